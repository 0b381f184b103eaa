package eager

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// A peer that closes or dies: the owners of what waits hear once, the upper
// layer hears once, and everything sent later is refused at once.
func TestPeerEnds(t *testing.T) {
	for _, want := range []verbs.Status{verbs.StatusPeerClosed, verbs.StatusPeerDead} {
		for _, connected := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v/connected %v", want, connected), func(t *testing.T) {
				c := small()
				r := newRig(t, 3, c, sim.DeviceConfig{ConnectRetries: 20})
				a, b := r.ranks[0], r.ranks[1]
				if connected {
					r.connect()
				}
				// b has one slot's worth of patience: it doesn't poll any more.
				r.ranks = []*rank{a, r.ranks[2]}
				var owners []*owner
				for i := range 40 {
					_, w := a.enqueue(1, int32(i), payload(i, i*5))
					owners = append(owners, w)
				}
				queued := 0
				for _, w := range owners {
					if len(w.told) == 0 {
						queued++
					}
				}
				if queued == 0 {
					t.Fatal("nothing waits")
				}
				if want == verbs.StatusPeerDead {
					r.nw.Kill(b.dev)
				} else if err := b.dev.Close(); err != nil {
					t.Fatal(err)
				}
				r.until("the end", func() bool { return len(a.closed) > 0 })
				r.settle()
				if !connected {
					want = verbs.StatusRefused
				}
				if d := cmp.Diff([]closing{{1, want}}, a.closed); d != "" {
					t.Errorf("closed (-want +got)\n%s", d)
				}
				if s, is := a.eps[1].Closed(); !is || s != want {
					t.Errorf("Closed() = %v, %v", s, is)
				}
				lost := 0
				for i, w := range owners {
					if len(w.told) != 1 {
						t.Errorf("owner %d was told %v", i, w.told)
					} else if !w.told[0] {
						lost++
					}
				}
				if lost == 0 || lost > queued {
					t.Errorf("%d owners heard of a loss, %d were waiting", lost, queued)
				}
				if a.send(1, 0, nil) {
					t.Error("sent to a peer that is gone")
				}
				if _, w := a.enqueue(1, 0, nil); len(w.told) != 1 || w.told[0] {
					t.Errorf("the owner of a message to a peer that is gone was told %v", w.told)
				}
				// The buffers of what was under way are free again, and the
				// other peer is not concerned.
				a.do(func() {
					for a.eng.Drain(a.layer.sendCQ) > 0 {
					}
				})
				if got := len(a.layer.bounce.free); got != c.Bounce {
					t.Errorf("%d of %d buffers are free", got, c.Bounce)
				}
				other := r.ranks[1]
				_, w := a.enqueue(2, 7, payload(1, 150))
				r.until("a message to the other peer", func() bool { return len(other.got) == 1 })
				if d := cmp.Diff([]bool{true}, w.told); d != "" || other.got[0].Body != string(payload(1, 150)) {
					t.Errorf("to the other peer: %v %+v", w.told, other.got)
				}
			})
		}
	}
}

// The upper layer knows of the end before the owners of what waited do: they ask
// it why.
func TestClosedBeforeOwners(t *testing.T) {
	r := newRig(t, 2, small(), sim.DeviceConfig{})
	a, b := r.ranks[0], r.ranks[1]
	r.connect()
	var first string
	r.ranks = r.ranks[:1]
	var last *Outgoing
	for i := 0; last == nil || last.next != nil || a.eps[1].queue.tail != last; i++ {
		last, _ = a.enqueue(1, int32(i), payload(i, 100))
	}
	last.Owner = ownerFunc(func(bool) { first = fmt.Sprint(a.closed) })
	r.nw.Kill(b.dev)
	r.until("the end", func() bool { return first != "" })
	if want := fmt.Sprint([]closing{{1, verbs.StatusPeerDead}}); first != want {
		t.Errorf("when the owner was told, the upper layer had heard %s; want %s", first, want)
	}
}

type ownerFunc func(bool)

func (f ownerFunc) Sent(ok bool) { f(ok) }

// A peer that sends what is no message is closed, with its slot given back, and
// nothing of it is delivered any more. The others go on.
func TestMalformedPeer(t *testing.T) {
	for _, v := range malformed {
		if len(v.b) == 0 {
			continue // an empty message parses like the next case
		}
		t.Run(v.name, func(t *testing.T) {
			c := small()
			r := newRig(t, 2, c, sim.DeviceConfig{})
			a, other := r.ranks[0], r.ranks[1]
			raw := newRaw(t, r, a, 9)
			raw.post(encode(Header{Kind: Data, Tag: 1, Seq: 1}, nil))
			raw.post(v.b)
			raw.post(encode(Header{Kind: Data, Tag: 2, Seq: 2}, nil))
			r.until("the end of the peer", func() bool { return len(a.closed) > 0 })
			raw.post(encode(Header{Kind: Data, Tag: 3, Seq: 3}, nil))
			if !other.send(0, 4, payload(1, 30)) {
				t.Error("the other peer: not sent")
			}
			r.until("a message of the other peer", func() bool { return len(a.got) > 0 && a.got[len(a.got)-1].From == 1 })
			r.settle()
			if d := cmp.Diff([]closing{{9, verbs.StatusCorrupt}}, a.closed); d != "" {
				t.Errorf("closed (-want +got)\n%s", d)
			}
			want := []message{{9, Header{Kind: Data, Tag: 1, Seq: 1}, ""}, {1, Header{Kind: Data, Context: 1, Tag: 4, Seq: 1}, string(payload(1, 30))}}
			if d := cmp.Diff(want, a.got); d != "" {
				t.Errorf("delivered (-want +got)\n%s", d)
			}
			if n := a.layer.Counters().Malformed; n != 1 {
				t.Errorf("%d malformed messages were counted", n)
			}
			for _, p := range r.pools() {
				if p.posted != p.all {
					t.Errorf("%d of %d slots are posted", p.posted, p.all)
				}
			}
		})
	}
}

// raw is a peer that is no layer: it posts what it likes.
type raw struct {
	t  *testing.T
	qp verbs.QP
}

// newRaw connects a bare queue pair to a rank, which knows it as peer.
func newRaw(t *testing.T, r *rig, a *rank, peer int) *raw {
	t.Helper()
	dev := r.nw.NewDevice(sim.DeviceConfig{})
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	cq, err := dev.NewCQ(64)
	must(err)
	rq, err := dev.NewRQ(verbs.RQConfig{Shared: true, Slots: 4, SlotSize: 64})
	must(err)
	qp, err := dev.NewQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, RQ: rq, Inline: 512})
	must(err)
	must(qp.Connect(a.dev.Addr(), 1000, 2000))
	ep, err := a.layer.Endpoint(peer, dev.Addr(), 2000, 1000, 10)
	must(err)
	a.do(ep.Contact)
	return &raw{t, qp}
}

func (w *raw) post(b []byte) {
	w.t.Helper()
	if n, err := w.qp.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: b}}); n != 1 {
		w.t.Fatal(err)
	}
}
