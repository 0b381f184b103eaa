package eager

import (
	"fmt"
	"testing"

	"github.com/verbena-mpi/verbena/srq"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// Where every message takes a slot, none finds its receiver without one, although
// the receiver doesn't call in for long and the senders have more to send than it
// has slots: they wait for credits. With more credits than slots some do; either
// way all arrive, in order.
func TestNoSlot(t *testing.T) {
	const senders, count = 2, 300
	for _, mode := range []srq.Mode{srq.Shared, srq.PerPeer} {
		for _, overcommit := range []float64{1, 50} {
			t.Run(fmt.Sprintf("%v/overcommit %v", mode, overcommit), func(t *testing.T) {
				c := small()
				c.Depth, c.Bounce = 400, 400
				c.Recv = srq.Config{Mode: mode, Slots: 4, Overcommit: overcommit}
				r := newRig(t, 1+senders, c, sim.DeviceConfig{})
				r.connect()
				receiver := r.ranks[0]
				for i := range count {
					for _, a := range r.ranks[1:] {
						a.enqueue(0, int32(i), payload(i, i%c.Limit))
					}
				}
				all := r.ranks
				r.ranks = all[1:] // the receiver doesn't poll
				for range 1000 {
					r.turn()
				}
				r.ranks = all
				r.until("all messages", func() bool { return len(receiver.got) == senders*count })
				next := map[int]int32{}
				for _, m := range receiver.got {
					if m.Tag != next[m.From] {
						t.Fatalf("message %d of rank %d, want %d", m.Tag, m.From, next[m.From])
					}
					next[m.From]++
				}
				if n := r.counter("rnr"); (n != 0) != (overcommit > 1) {
					t.Errorf("%d times there was no slot", n)
				}
				for _, a := range r.ranks[1:] {
					if overcommit == 1 && a.layer.Counters().Starved == 0 {
						t.Errorf("no message waited for a credit: %+v", a.layer.Counters())
					}
				}
			})
		}
	}
}

// counter adds up one of the devices' counters.
func (r *rig) counter(name string) (sum uint64) {
	for _, a := range r.ranks {
		for n, v := range a.dev.Counters {
			if n == name {
				sum += v
			}
		}
	}
	return sum
}
