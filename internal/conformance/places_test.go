package conformance

import (
	"fmt"
	"slices"

	"github.com/verbena-mpi/verbena/comm"
)

// place is where a behaviour is tested.
type place struct {
	device device
	order  order
	size   size
	queue  string // comm.Config's Recv
}

func (p place) String() string {
	return fmt.Sprintf("%s/%s/%s/%s", p.device.name, p.order, p.size.name, p.queue)
}

// bytes is how long the messages are.
func (p place) bytes() int { return p.size.bytes(p.device.inline) }

// config is the world's.
func (p place) config() comm.Config {
	c := p.device.config
	c.Recv, c.EagerLimit = p.queue, eagerLimit
	return c
}

// device is a device, with a way of reading.
type device struct {
	name   string
	verbs  string // comm's name of it; "" where there is none between a rank and itself
	hosts  int    // that ranks believe to be on, two on each; then verbs is the device between them
	config comm.Config
	self   bool // a rank sends to itself
	alloc  bool // buffers are of comm.Alloc
	inline int  // the longest payload that goes inline, or takes no receive slot
}

var devices = []device{
	{name: "self", self: true, inline: 96},
	{name: "inproc", verbs: "inproc", inline: 384},
	{name: "shm-stream", verbs: "shm", config: comm.Config{Read: "stream"}, inline: 96},
	{name: "shm-copy", verbs: "shm", config: comm.Config{Read: "copy"}, inline: 96},
	{name: "shm-direct", verbs: "shm", config: comm.Config{Read: "direct"}, alloc: true, inline: 96},
	{name: "tcp", verbs: "tcp", inline: 4048},
	{name: "hosts", verbs: "tcp", hosts: 2, inline: 4048},
}

// pairings are which ranks live a behaviour with each other: a rank and the one whose
// number differs from its own by these bits.
func (d device) pairings() []int {
	switch {
	case d.self:
		return []int{0}
	case d.hosts != 0:
		return []int{3, 1} // of different hosts, and of one
	}
	return []int{1}
}

// present are the devices that this system has.
func present() []device {
	return slices.DeleteFunc(slices.Clone(devices), func(d device) bool {
		return d.verbs != "" && !slices.Contains(comm.Devices(), d.verbs)
	})
}

// order says what comes first.
type order bool

const (
	posted     order = true  // the receive
	unexpected order = false // its message
)

func (o order) String() string {
	if o {
		return "posted"
	}
	return "unexpected"
}

// size is a message's, at the edge of a protocol.
type size struct {
	name  string
	bytes func(inline int) int
}

// eagerLimit is low, so that what is beyond it needs little memory.
const eagerLimit = 4096

var sizes = []size{
	{"inline", func(int) int { return 8 }},
	{"inline-1", func(inline int) int { return inline - 1 }},
	{"inline+0", func(inline int) int { return inline }},
	{"inline+1", func(inline int) int { return inline + 1 }},
	{"eager", func(int) int { return 1000 }},
	{"eager-1", func(int) int { return eagerLimit - 1 }},
	{"eager+0", func(int) int { return eagerLimit }},
	{"eager+1", func(int) int { return eagerLimit + 1 }},
	{"rendezvous", func(int) int { return 100_003 }},
}

var queues = []string{"srq", "peer"}

// allPlaces is each combination.
func allPlaces() []place {
	var all []place
	for _, d := range present() {
		for _, o := range []order{posted, unexpected} {
			for _, s := range sizes {
				for _, q := range queues {
					all = append(all, place{d, o, s, q})
				}
			}
		}
	}
	return all
}

// pairs are two values of a place.
func (p place) pairs() [6]string {
	d, o, s, q := p.device.name, p.order.String(), p.size.name, p.queue
	return [6]string{d + o, d + s, d + q, o + s, o + q, s + q}
}

// pairwise chooses places that have each pair of values between them: always the one
// next that has most of those that are missing.
func pairwise(all []place) []place {
	missing := map[string]bool{}
	for _, p := range all {
		for _, pair := range p.pairs() {
			missing[pair] = true
		}
	}
	var chosen []place
	for len(missing) > 0 {
		best, most := place{}, 0
		for _, p := range all {
			n := 0
			for _, pair := range p.pairs() {
				if missing[pair] {
					n++
				}
			}
			if n > most {
				best, most = p, n
			}
		}
		for _, pair := range best.pairs() {
			delete(missing, pair)
		}
		chosen = append(chosen, best)
	}
	return chosen
}
