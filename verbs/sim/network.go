package sim

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Network is the devices of one simulation, their links and their clock.
type Network struct {
	mu      sync.Mutex
	cfg     Config
	now     time.Duration
	events  eventQueue
	seq     uint64 // of the next event
	rng     *rand.Rand
	devices []*Device
	links   map[[2]int]*link
}

// New makes a network without devices.
func New(cfg Config) *Network {
	if cfg.Link == (Link{}) {
		cfg.Link = DefaultLink
	}
	return &Network{
		cfg:   cfg,
		rng:   rand.New(rand.NewPCG(cfg.Seed, 0x5eed)),
		links: make(map[[2]int]*link),
	}
}

// Now is the virtual time. It begins at 0.
func (n *Network) Now() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now
}

// Step runs the next event and says whether there was one.
func (n *Network) Step() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.step(-1)
}

// Advance runs the events of the next d of virtual time, and sets the clock to
// the end of it.
func (n *Network) Advance(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	end := n.now + d
	for n.step(end) {
	}
	n.now = max(n.now, end)
}

// Next is the time of the next event, if there is one.
func (n *Network) Next() (at time.Duration, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ev := n.events.first(); ev != nil {
		return ev.at, true
	}
	return 0, false
}

// At calls fn at a virtual time, or at once where that is over. fn may call
// whatever it wants: it is for scripts of faults.
func (n *Network) At(at time.Duration, fn func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.schedule(at, fn).outside = true
}

// address is what Device.Addr gives and Connect takes.
const addressLen = 8

func address(id int) []byte {
	a := make([]byte, addressLen)
	copy(a, "sim:")
	binary.LittleEndian.PutUint32(a[4:], uint32(id))
	return a
}

// parseAddress says which device an address names. There may be none.
func parseAddress(a []byte) (id int, err error) {
	if len(a) != addressLen || string(a[:4]) != "sim:" {
		return 0, fmt.Errorf("sim: %q is no address of a simulated device", a)
	}
	return int(binary.LittleEndian.Uint32(a[4:])), nil
}

// device is the device of an id, or nil.
func (n *Network) device(id int) *Device {
	if id < 0 || id >= len(n.devices) {
		return nil
	}
	return n.devices[id]
}
