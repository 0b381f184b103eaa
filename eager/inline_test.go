package eager

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/srq"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// A message goes inline exactly when header and payload fit what was granted,
// whatever was asked for.
func TestInlineBoundary(t *testing.T) {
	for _, v := range []struct{ ask, most, granted int }{
		{0, 512, 32},    // the device grants more than was asked
		{100, 512, 100}, // as much
		{400, 200, 200}, // less
		{216, 512, 216}, // everything up to the limit
	} {
		for _, mode := range []srq.Mode{srq.Shared, srq.PerPeer} {
			t.Run(fmt.Sprintf("ask %d/%v", v.ask, mode), func(t *testing.T) {
				c := small()
				c.Inline, c.Recv.Mode = v.ask, mode
				r := newRig(t, 2, c, sim.DeviceConfig{MaxInline: v.most})
				r.connect()
				a, b := r.ranks[0], r.ranks[1]
				if got := a.eps[1].Inline(); got != v.granted {
					t.Fatalf("granted %d, want %d", got, v.granted)
				}
				i := 0
				for _, n := range []int{0, v.granted - HeaderSize - 1, v.granted - HeaderSize, v.granted - HeaderSize + 1, c.Limit} {
					if n > c.Limit {
						continue
					}
					before := a.layer.Counters()
					data := payload(i, n)
					if !a.send(1, int32(n), data) {
						t.Fatalf("%d bytes: not sent", n)
					}
					clear(data) // the caller's again
					after := a.layer.Counters()
					inline := HeaderSize+n <= v.granted
					want := before
					if inline {
						want.Inline++
					} else {
						want.Bounced++
						want.Signaled++
					}
					after.Signaled, want.Signaled = 0, 0 // of inline ones, some are
					if d := cmp.Diff(want, after); d != "" {
						t.Errorf("%d bytes with %d granted (-want +got)\n%s", n, v.granted, d)
					}
					r.until("the message", func() bool { return len(b.got) == i+1 })
					got := b.got[i]
					if d := cmp.Diff(message{0, Header{Kind: Data, Context: 1, Tag: int32(n), Seq: uint32(i + 1)}, string(payload(i, n))}, got); d != "" {
						t.Errorf("%d bytes (-want +got)\n%s", n, d)
					}
					i++
				}
				r.settle()
				for _, q := range r.pools() {
					if q.posted != q.all {
						t.Errorf("%d of %d slots are posted", q.posted, q.all)
					}
				}
			})
		}
	}
}

type poolState struct{ posted, all int }

// pools says of each receive queue how many slots are posted, with what the
// queue keeps back for a batch.
func (r *rig) pools() (list []poolState) {
	for _, a := range r.ranks {
		seen := map[*srq.Queue]bool{}
		for _, ep := range a.eps {
			if ep != nil && !seen[ep.recv] {
				seen[ep.recv] = true
				a.do(ep.recv.Flush)
				list = append(list, poolState{ep.recv.RQ().Posted(), ep.recv.Slots()})
			}
		}
	}
	return list
}

// More than there are buffers for goes through them in order, and all buffers
// come back.
func TestBounceRunsOut(t *testing.T) {
	c := small()
	c.Depth = 64 // so that it is the buffers that run out
	r := newRig(t, 2, c, sim.DeviceConfig{})
	r.connect()
	a, b := r.ranks[0], r.ranks[1]
	const count = 50
	var owners []*owner
	for i := range count {
		_, w := a.enqueue(1, int32(i), payload(i, 100+i))
		owners = append(owners, w)
	}
	if n := a.layer.Counters().Queued; n != count-uint64(c.Bounce) {
		t.Errorf("%d messages were queued, want %d: there are %d buffers", n, count-c.Bounce, c.Bounce)
	}
	r.until("the messages", func() bool { return len(b.got) == count })
	for i, m := range b.got {
		if m.Tag != int32(i) || m.Seq != uint32(i+1) || m.Body != string(payload(i, 100+i)) {
			t.Fatalf("message %d: tag %d, sequence %d, or its bytes are wrong", i, m.Tag, m.Seq)
		}
		if d := cmp.Diff([]bool{true}, owners[i].told); d != "" {
			t.Errorf("owner %d (-want +got)\n%s", i, d)
		}
	}
	r.settle()
	a.do(func() { a.eng.Drain(a.layer.sendCQ) })
	if got := len(a.layer.bounce.free); got != c.Bounce {
		t.Errorf("%d of %d buffers are free", got, c.Bounce)
	}
}

// Offers and finishes are longer than the least inline size and than the
// smallest eager limit. They leave all the same.
func TestControl(t *testing.T) {
	for _, limit := range []int{0, 8, 16, 17, 24, 200} {
		c := small()
		c.Inline, c.Limit = 0, limit
		r := newRig(t, 2, c, sim.DeviceConfig{})
		a, b := r.ranks[0], r.ranks[1]
		x := Extension{Length: 1 << 33, Addr: 77, Key: 99}
		var offer, finish Outgoing
		a.do(func() {
			offer.SetControl(Header{Kind: Offer, Context: 5, Tag: 6}, x)
			finish.SetControl(Header{Kind: Finish, Flags: FlagFailed}, Extension{Name: 42})
			a.eps[1].Enqueue(&offer)
			a.eps[1].Enqueue(&finish)
		})
		r.until(fmt.Sprintf("an offer and a finish, eager limit %d", limit), func() bool { return len(b.got) == 2 })
		want := []message{
			{0, Header{Kind: Offer, Context: 5, Tag: 6, Seq: 1}, string(encode(Header{}, &x)[HeaderSize:])},
			{0, Header{Kind: Finish, Flags: FlagFailed}, string(encode(Header{}, &Extension{Name: 42})[HeaderSize:])},
		}
		if d := cmp.Diff(want, b.got); d != "" {
			t.Errorf("limit %d (-want +got)\n%s", limit, d)
		}
		// A finish is not numbered: the next message is the second.
		if !a.send(1, 1, nil) {
			t.Errorf("limit %d: not sent", limit)
		}
		r.until("the next message", func() bool { return len(b.got) == 3 })
		if b.got[2].Seq != 2 {
			t.Errorf("limit %d: the message after an offer and a finish has number %d", limit, b.got[2].Seq)
		}
	}
}
