package rendezvous

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/progress"
	"github.com/verbena-mpi/verbena/srq"
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is some ranks on a simulated network: a read's chunks are read when they
// leave, and written when they arrive, so that memory which is touched too late
// shows.
type rig struct {
	t     testing.TB
	nw    *sim.Network
	ranks []*rank
}

// rank is the least that stands above the layer: it keeps offers until the test
// pulls them.
type rank struct {
	rig    *rig
	id     int
	eng    *progress.Engine
	dev    *sim.Device
	eager  *eager.Layer
	layer  *Layer
	needs  int // what NeedSends was told, added up
	eps    []*eager.Endpoint
	sends  []Sends
	offers []offer
	auto   int      // pull the first offer at once, into so many bytes
	pulled *pulling // that pull
	wrong  []error  // what Finished returned
	lost   []verbs.Status
}

type offer struct {
	from int
	eager.Header
	eager.Extension
}

// Arrived implements eager.Upper.
func (r *rank) Message(ep *eager.Endpoint, context uint32, tag int32, seq uint32, body []byte) {
	r.Arrived(ep, eager.Header{Kind: eager.Data, Context: context, Tag: tag, Seq: seq}, body)
}

func (r *rank) Arrived(ep *eager.Endpoint, h eager.Header, body []byte) {
	if h.Kind == eager.Credit {
		return // of Contact
	}
	switch x := eager.ParseExtension(body); h.Kind {
	case eager.Offer:
		o := offer{ep.Peer, h, x}
		if r.auto != 0 && r.pulled == nil {
			r.pulled = newPulling(r.auto)
			r.pulled.start(r, o)
			return
		}
		r.offers = append(r.offers, o)
	case eager.Finish:
		if err := r.layer.Finished(&r.sends[ep.Peer], h.Flags, x); err != nil {
			r.wrong = append(r.wrong, err)
		}
	case eager.Cancel:
		for i, o := range r.offers {
			if o.from == ep.Peer && o.Name == x.Name {
				r.offers = slices.Delete(r.offers, i, i+1)
				if h.Flags&eager.FlagAsk != 0 {
					r.layer.LetGo(ep, x)
				}
				return
			}
		}
	}
}

// Read implements eager.Upper.
func (r *rank) Read(_ *eager.Endpoint, c *verbs.Completion) { r.layer.Read(c) }

// Closed implements eager.Upper.
func (r *rank) Closed(ep *eager.Endpoint, s verbs.Status) {
	r.lost = append(r.lost, s)
	r.layer.Lost(&r.sends[ep.Peer], lostError(s))
}

// lostError is what the rig ends sends with whose peer is gone.
type lostError verbs.Status

func (e lostError) Error() string { return "lost: " + verbs.Status(e).String() }

func newRig(t testing.TB, n int, cfg sim.Config) *rig {
	t.Helper()
	r := &rig{t: t, nw: sim.New(cfg)}
	for i := range n {
		eng, err := progress.New(progress.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(eng.Close)
		a := &rank{rig: r, id: i, eng: eng, dev: r.nw.NewDevice(), sends: make([]Sends, n)}
		a.eager, err = eager.New(eng, a.dev, eager.Config{
			Inline: 64, Limit: 64, Depth: 4, Bounce: 4, Recv: srq.Config{Slots: 8, Peers: n - 1},
		}, a)
		if err != nil {
			t.Fatal(err)
		}
		a.layer = New(a.dev, func(n int) { a.needs += n; a.eager.NeedSends(n) })
		r.ranks = append(r.ranks, a)
	}
	for i, a := range r.ranks {
		for j, b := range r.ranks {
			if i == j {
				a.eps = append(a.eps, nil)
				continue
			}
			ep, err := a.eager.Endpoint(j, b.dev.Addr(), uint32(i), uint32(j), b.eager.Credits())
			if err != nil {
				t.Fatal(err)
			}
			a.eps = append(a.eps, ep)
		}
	}
	return r
}

func (a *rank) do(f func()) {
	a.eng.Lock()
	defer a.eng.Unlock()
	f()
}

// turn has every rank poll once and moves the clock to the next event.
func (r *rig) turn() {
	for _, a := range r.ranks {
		a.do(func() { a.eng.Poll() })
	}
	r.nw.Step()
}

// until takes turns until cond holds. Time is virtual, so a count bounds it.
func (r *rig) until(what string, cond func() bool) {
	r.t.Helper()
	for range 200_000 {
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
	for range 200_000 {
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
		fmt.Fprintf(&b, "rank %d: needs %d, lost %v, %+v, %+v\n", i, a.needs, a.lost, a.layer.count, a.eager.Counters())
	}
	return b.String()
}

// clean checks that nothing is left of what was done.
func (r *rig) clean() {
	r.t.Helper()
	for i, a := range r.ranks {
		if a.needs != 0 {
			r.t.Errorf("rank %d still waits for %d sends", i, a.needs)
		}
		for _, p := range a.layer.pulls {
			if p != nil {
				r.t.Errorf("rank %d: a pull is left", i)
			}
		}
		for peer, s := range a.sends {
			if s.head != nil || s.tail != nil {
				r.t.Errorf("rank %d: a send to %d is left", i, peer)
			}
		}
	}
}

// bury does for a rank that was killed what the end of its process would.
func (a *rank) bury() {
	for _, p := range a.layer.pulls {
		if p != nil {
			p.pin.Unpin()
		}
	}
	for _, l := range a.sends {
		for s := l.head; s != nil; s = s.next {
			s.pin.Unpin()
		}
	}
}

// sending is a send with what its owner heard. The memory is spoiled at that
// moment: a later reader gets the wrong bytes.
type sending struct {
	Send
	mem  []byte
	told []error
}

// Offered implements the send's owner.
func (s *sending) Offered(err error) {
	s.told = append(s.told, err)
	for i := range s.mem {
		s.mem[i] = 0xee
	}
}

// pulling is a pull with what its owner heard, and how its buffer looked then.
type pulling struct {
	Pull
	all  []byte // the buffer and what lies around it
	then []byte
	told []error
}

const around = 64

// Pulled implements the pull's owner.
func (p *pulling) Pulled(err error) {
	p.told = append(p.told, err)
	p.then = bytes.Clone(p.all)
}

func (a *rank) offer(to int, mem []byte) *sending {
	a.rig.t.Helper()
	s := &sending{mem: mem}
	s.Owner = s
	a.do(func() {
		if err := a.layer.Offer(&s.Send, &a.sends[to], a.eps[to], 1, 2, mem, nil); err != nil {
			a.rig.t.Fatal(err)
		}
	})
	return s
}

// pull pulls an offer into room bytes.
func (a *rank) pull(o offer, room int) *pulling {
	p := newPulling(room)
	a.do(func() { p.start(a, o) })
	return p
}

func newPulling(room int) *pulling {
	p := &pulling{all: bytes.Repeat([]byte{0xaa}, around+room+around)}
	p.Owner = p
	return p
}

func (p *pulling) start(a *rank, o offer) {
	a.layer.Pull(&p.Pull, a.eng, a.eps[o.from], o.Extension, p.all[around:len(p.all)-around])
}

// takeOffer waits for an offer at rank a.
func (a *rank) takeOffer() (o offer) {
	a.rig.t.Helper()
	a.rig.until("an offer", func() bool { return len(a.offers) > 0 })
	o, a.offers = a.offers[0], a.offers[1:]
	return o
}

// check compares a pull's buffer, as it was when its owner was told and as it is
// now, with the message that was sent.
func (p *pulling) check(t *testing.T, sent []byte, room int) {
	t.Helper()
	n := min(len(sent), room)
	want := bytes.Repeat([]byte{0xaa}, around+room+around)
	copy(want[around:around+room], sent[:n])
	if !bytes.Equal(p.then, want) {
		t.Errorf("%d bytes into %d: wrong bytes, or some outside, when the owner was told", len(sent), room)
	}
	if !bytes.Equal(p.all, p.then) {
		t.Errorf("%d bytes into %d: the buffer was written after the owner was told", len(sent), room)
	}
}

func pattern(seed, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(seed + i*7 + i>>8*3)
	}
	return b
}
