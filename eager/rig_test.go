package eager

import (
	"bytes"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/verbena-mpi/verbena/progress"
	"github.com/verbena-mpi/verbena/srq"
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is some ranks on a simulated network with literal verbs: every message
// takes a slot, a send's memory is read when it leaves, local memory must be
// registered.
type rig struct {
	t     *testing.T
	nw    *sim.Network
	ranks []*rank
}

// rank is an engine, a device and a layer, and what the layer delivered.
type rank struct {
	rig    *rig
	eng    *progress.Engine
	dev    *sim.Device
	layer  *Layer
	eps    []*Endpoint
	got    []message
	closed []closing
}

type message struct {
	From int
	Header
	Body string
}

type closing struct {
	Peer   int
	Status verbs.Status
}

// Arrived implements Upper.
func (r *rank) Message(ep *Endpoint, context uint32, tag int32, seq uint32, body []byte) {
	r.Arrived(ep, Header{Kind: Data, Context: context, Tag: tag, Seq: seq}, body)
}

func (r *rank) Arrived(ep *Endpoint, h Header, body []byte) {
	if h.Kind == Credit {
		return // of Contact
	}
	r.got = append(r.got, message{ep.Peer, h, string(body)})
}

// Read implements Upper.
func (r *rank) Read(_ *Endpoint, c *verbs.Completion) {
	r.rig.t.Errorf("completion of a read: %+v", *c)
}

// Closed implements Upper.
func (r *rank) Closed(ep *Endpoint, s verbs.Status) {
	r.closed = append(r.closed, closing{ep.Peer, s})
}

// small is a configuration in which everything runs out soon.
func small() Config {
	return Config{Inline: 64, Limit: 200, Depth: 8, Bounce: 4, Recv: srq.Config{Mode: srq.Shared, Slots: 16}}
}

func newRig(t *testing.T, n int, c Config, d sim.DeviceConfig) *rig {
	t.Helper()
	r := &rig{t: t, nw: sim.New(sim.Config{Seed: 1, Device: d})}
	c.Recv.Peers = n - 1
	for range n {
		r.add(c)
	}
	for i, a := range r.ranks {
		for j, b := range r.ranks {
			if i == j {
				a.eps = append(a.eps, nil)
				continue
			}
			ep, err := a.layer.Endpoint(j, b.dev.Addr(), uint32(i), uint32(j), b.layer.Credits())
			if err != nil {
				t.Fatal(err)
			}
			a.eps = append(a.eps, ep)
		}
	}
	return r
}

func (r *rig) add(c Config) *rank {
	r.t.Helper()
	eng, err := progress.New(progress.Config{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(eng.Close)
	a := &rank{rig: r, eng: eng, dev: r.nw.NewDevice()}
	if a.layer, err = New(eng, a.dev, c, a); err != nil {
		r.t.Fatal(err)
	}
	r.ranks = append(r.ranks, a)
	return a
}

// do runs f under the rank's engine's lock.
func (a *rank) do(f func()) {
	a.eng.Lock()
	defer a.eng.Unlock()
	f()
}

func (a *rank) send(to int, tag int32, data []byte) (ok bool) {
	a.do(func() { ok = a.eps[to].Send(1, tag, data) })
	return ok
}

// turn has every rank poll once, and moves the clock to the next event.
func (r *rig) turn() {
	for _, a := range r.ranks {
		a.do(func() { a.eng.Poll() })
	}
	r.nw.Step()
}

// until takes turns until cond holds. Time is virtual, so a count bounds it.
func (r *rig) until(what string, cond func() bool) {
	r.t.Helper()
	for range 100_000 {
		if cond() {
			return
		}
		r.turn()
	}
	r.t.Fatalf("still waiting for %s\n%s", what, r.state())
}

// settle takes turns until nothing is left to happen.
func (r *rig) settle() {
	r.t.Helper()
	for range 100_000 {
		r.turn()
		if _, more := r.nw.Next(); !more {
			for range 3 {
				r.turn()
			}
			return
		}
	}
	r.t.Fatalf("the network does not come to rest\n%s", r.state())
}

func (r *rig) state() string {
	var b bytes.Buffer
	for i, a := range r.ranks {
		a.do(func() {
			fmt.Fprintf(&b, "rank %d: %d messages, closed %v, %+v\n", i, len(a.got), a.closed, a.layer.count)
			for _, ep := range a.eps {
				if ep != nil {
					fmt.Fprintf(&b, "  to %d: outstanding %d, queue empty %v, waiting %v\n", ep.Peer, ep.outstanding, ep.queue.head == nil, ep.waiting)
				}
			}
		})
	}
	return b.String()
}

// connect has everybody's connections made.
func (r *rig) connect() {
	r.t.Helper()
	for _, a := range r.ranks {
		a.do(func() {
			for _, ep := range a.eps {
				if ep != nil {
					ep.Contact()
				}
			}
		})
	}
	r.settle()
}

// owner counts what it is told, and spoils the data of what has left: a layer
// that still needed it would send the wrong bytes.
type owner struct {
	t    *testing.T
	told []bool
	data []byte
}

// Sent implements Owner.
func (o *owner) Sent(ok bool) {
	o.told = append(o.told, ok)
	for i := range o.data {
		o.data[i] = 0xee
	}
}

// enqueue makes an outgoing message of its own copy of data.
func (a *rank) enqueue(to int, tag int32, data []byte) (*Outgoing, *owner) {
	w := &owner{t: a.rig.t, data: bytes.Clone(data)}
	o := &Outgoing{Owner: w}
	a.do(func() {
		o.SetData(1, tag, w.data)
		a.eps[to].Enqueue(o)
	})
	return o, w
}

// payload is n bytes that say which message they are of.
func payload(i, n int) []byte {
	b := make([]byte, n)
	for k := range b {
		b[k] = byte(i*31 + k)
	}
	return b
}
