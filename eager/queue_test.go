package eager

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/srq"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// Messages keep their order, and owners hear once, when queues, buffers and
// slots are all full: sent from both ends, at once or through the queue.
func TestOrderWhenFull(t *testing.T) {
	for seed := range uint64(6) {
		for _, mode := range []srq.Mode{srq.Shared, srq.PerPeer} {
			t.Run(fmt.Sprintf("%v/seed %d", mode, seed), func(t *testing.T) { orderWhenFull(t, mode, seed) })
		}
	}
}

func orderWhenFull(t *testing.T, mode srq.Mode, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	c := small()
	c.Depth, c.Bounce = 1+rng.IntN(6), 1+rng.IntN(3)
	c.Recv = srq.Config{Mode: mode, Slots: 1 + rng.IntN(4)}
	r := newRig(t, 3, c, sim.DeviceConfig{})
	const count = 200
	type sent struct{ from, to, i int }
	next := map[[2]int]int{}
	owners := map[sent]*owner{}
	bytesOf := func(s sent) []byte { return payload(s.i*7+s.from, (s.i*s.i*13+s.to)%(c.Limit+1)) }
	for k := 0; k < count*6; {
		from, to := rng.IntN(3), rng.IntN(3)
		pair := [2]int{from, to}
		if from == to || next[pair] == count {
			continue
		}
		s := sent{from, to, next[pair]}
		a := r.ranks[from]
		if rng.IntN(2) == 0 {
			_, owners[s] = a.enqueue(to, int32(s.i), bytesOf(s))
			next[pair]++
			k++
		} else if a.send(to, int32(s.i), bytesOf(s)) {
			next[pair]++
			k++
		}
		if rng.IntN(3) == 0 {
			r.turn()
		}
	}
	r.until("all messages", func() bool {
		return len(r.ranks[0].got) == 2*count && len(r.ranks[1].got) == 2*count && len(r.ranks[2].got) == 2*count
	})
	for to, b := range r.ranks {
		seen := map[int]int{}
		for _, m := range b.got {
			i := seen[m.From]
			seen[m.From]++
			if int(m.Tag) != i || m.Seq != uint32(i+1) || m.Body != string(bytesOf(sent{m.From, to, i})) {
				t.Fatalf("from %d to %d: message %d has tag %d, sequence %d, or wrong bytes", m.From, to, i, m.Tag, m.Seq)
			}
		}
	}
	for s, w := range owners {
		if d := cmp.Diff([]bool{true}, w.told); d != "" {
			t.Errorf("owner of %v (-want +got)\n%s", s, d)
		}
	}
	r.settle()
	for _, p := range r.pools() {
		if p.posted != p.all {
			t.Errorf("%d of %d slots are posted", p.posted, p.all)
		}
	}
}

// What is withdrawn doesn't leave and its owner isn't told; the others leave,
// numbered without a gap. What has left can't be withdrawn.
func TestWithdraw(t *testing.T) {
	for _, which := range [][]int{{0}, {1}, {4}, {0, 1}, {3, 4}, {4, 3}, {0, 2, 4}, {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}} {
		c := small()
		r := newRig(t, 2, c, sim.DeviceConfig{})
		a, b := r.ranks[0], r.ranks[1]
		// Not connected: the queue pair takes a queue's depth, and holds it.
		for i := range c.Depth {
			if !a.send(1, 100+int32(i), nil) {
				t.Fatalf("message %d: not sent, the send queue has %d places", i, c.Depth)
			}
		}
		var outs []*Outgoing
		var owners []*owner
		for i := range 5 {
			o, w := a.enqueue(1, int32(i), payload(i, 10))
			outs, owners = append(outs, o), append(owners, w)
		}
		a.do(func() {
			for _, i := range which {
				if !a.eps[1].Withdraw(outs[i]) {
					t.Errorf("%v: %d could not be withdrawn", which, i)
				}
				if a.eps[1].Withdraw(outs[i]) {
					t.Errorf("%v: %d was withdrawn twice", which, i)
				}
			}
		})
		want := []int32{}
		for i := range c.Depth {
			want = append(want, 100+int32(i))
		}
		told := make([][]bool, 5)
		for i := range told {
			told[i] = []bool{true}
		}
		for _, i := range which {
			told[i] = nil
		}
		for i := range told {
			if told[i] != nil {
				want = append(want, int32(i))
			}
		}
		r.until(fmt.Sprintf("%d messages", len(want)), func() bool { return len(b.got) == len(want) })
		r.settle()
		var got []int32
		for i, m := range b.got {
			got = append(got, m.Tag)
			if m.Seq != uint32(i+1) {
				t.Errorf("%v: message %d has number %d", which, i, m.Seq)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v withdrawn: tags (-want +got)\n%s", which, d)
		}
		for i, w := range owners {
			if d := cmp.Diff(told[i], w.told); d != "" {
				t.Errorf("%v withdrawn: owner %d (-want +got)\n%s", which, i, d)
			}
			a.do(func() {
				if a.eps[1].Withdraw(outs[i]) {
					t.Errorf("%v: %d was withdrawn after it had left", which, i)
				}
			})
		}
		// A withdrawn one can be sent again.
		o, w := outs[which[0]], owners[which[0]]
		a.do(func() {
			o.SetData(1, 55, nil)
			a.eps[1].Enqueue(o)
		})
		r.until("it again", func() bool { return len(b.got) == len(want)+1 })
		if b.got[len(want)].Tag != 55 || len(w.told) != 1 {
			t.Errorf("%v: sent again: %+v, told %v", which, b.got[len(want)], w.told)
		}
	}
}

// What is given to the endpoint while its queue is being flushed leaves too, however many
// places the flush has left: a finish, say, of a read whose completion was found on the
// way. Nobody would ask for it again.
func TestEnqueuedWithinFlush(t *testing.T) {
	c := small()
	for n := 1; n <= 2*c.Depth; n++ {
		r := newRig(t, 2, c, sim.DeviceConfig{})
		a, b := r.ranks[0], r.ranks[1]
		for range c.Depth { // the send queue is full until there is a connection
			if !a.send(1, 0, nil) {
				t.Fatal("not sent")
			}
		}
		cancel := new(Outgoing)
		cancel.SetControl(Header{Kind: Cancel}, Extension{Name: 7})
		for i := range n {
			o := new(Outgoing)
			if i == n-1 {
				o.Owner = ownerFunc(func(bool) { a.eps[1].Enqueue(cancel) })
			}
			a.do(func() {
				o.SetData(1, 1, nil)
				a.eps[1].Enqueue(o)
			})
		}
		r.settle()
		if got := len(b.got); got != c.Depth+n+1 {
			t.Errorf("%d messages in the queue: %d have come, want %d\n%s", n, got, c.Depth+n+1, r.state())
		}
	}
}

// The send CQ is polled once per half a queue of messages, not once per message.
func TestSendPolls(t *testing.T) {
	for _, depth := range []int{64, 128} {
		c := small()
		c.Depth = depth
		r := newRig(t, 2, c, sim.DeviceConfig{})
		r.connect()
		a, b := r.ranks[0], r.ranks[1]
		const count = 4000
		for i := range count {
			if !a.send(1, 0, payload(i, 20)) {
				t.Fatalf("message %d: not sent", i)
			}
			r.until("a message", func() bool { return len(b.got) == i+1 })
			if !b.send(0, 0, payload(i, 20)) {
				t.Fatalf("answer %d: not sent", i)
			}
			r.until("an answer", func() bool { return len(a.got) == i+1 })
		}
		for _, a := range r.ranks {
			polls, signaled := a.eng.Counters().SendPolls, a.layer.Counters().Signaled
			if polls >= count/32 || signaled > count/uint64(depth/2)+1 || a.layer.Counters().Queued != 0 {
				t.Errorf("depth %d: %d messages: %d polls of the send queue, %+v", depth, count, polls, a.layer.Counters())
			}
		}
	}
}
