// Package inproc is a device between the ranks of one process, for tests: it needs
// no system call and no clock, and wakes its owner through a channel. So it works
// on every system, and in a bubble of testing/synctest, where a rank that waits
// must be seen to wait.
//
// A Network is the devices of one job. One lock guards all of it, and whatever is
// posted happens at once: a send copies its message into a slot of its receiver, a
// read copies from the memory that the peer has registered. So all memory is the
// caller's again when PostSend returns, every size is granted inline, and an abort
// comes too late. A send that finds no connection or no slot is refused with
// ErrFull, and counted ("rnr") in the latter case.
//
// Beside sim, which plays an adapter in all its severity, in virtual time that
// somebody must step, this device is plain: the ranks are goroutines, and run.
package inproc

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// Name is Attr.Name.
const Name = "inproc"

// connectTimeout is how long a queue pair waits for its other end's Connect.
const connectTimeout = 30 * time.Second

// Network is the devices that can reach one another.
type Network struct {
	mu      sync.Mutex
	timeout time.Duration
	devices []*Device
}

// New makes a network without devices.
func New() *Network { return &Network{timeout: connectTimeout} }

const (
	prefix     = Name + ":"
	addressLen = len(prefix) + 4
)

// address is what Device.Addr gives and Connect takes.
func address(id int) []byte { return binary.LittleEndian.AppendUint32([]byte(prefix), uint32(id)) }

// Reaches says whether an address is one of this package's. Whether it is one of
// the same network is the caller's to know.
func Reaches(addr []byte) bool {
	return len(addr) == addressLen && string(addr[:len(prefix)]) == prefix
}

func parseAddress(addr []byte) (id int, err error) {
	if !Reaches(addr) {
		return 0, fmt.Errorf("%w: inproc: %q is no address of this device", verbs.ErrInvalid, addr)
	}
	return int(binary.LittleEndian.Uint32(addr[len(prefix):])), nil
}

// device is the device with that id, if there is one that is open.
func (n *Network) device(id int) *Device {
	if id >= len(n.devices) || n.devices[id].closed {
		return nil
	}
	return n.devices[id]
}

var (
	_ verbs.Device  = (*Device)(nil)
	_ verbs.Counted = (*Device)(nil)
	_ verbs.Waker   = (*Device)(nil)
	_ verbs.Mortal  = (*Device)(nil)
	_ verbs.QP      = (*queuePair)(nil)
	_ verbs.Taker   = (*queuePair)(nil)
	_ verbs.CQ      = (*completionQueue)(nil)
	_ verbs.RQ      = (*recvQueue)(nil)
	_ verbs.MR      = (*region)(nil)
	_ verbs.Revoker = (*region)(nil)
)
