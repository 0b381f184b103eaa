package tcp

import (
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// A peer that goes on writing when its queue pair has been closed holds nobody up.
func TestFloodAfterGoodbye(t *testing.T) {
	for _, tls := range []bool{false, true} {
		flood, calls := false, 0
		var v *victim
		tune := normal
		chunk := make([]byte, 64<<10)
		tune.part = func(n int) int {
			if !flood {
				return n
			}
			// It writes as fast as the victim reads.
			calls++
			if calls > 10_000 {
				t.Fatal("one call has read 10,000 times from a peer to which goodbye was said")
			}
			_, _ = v.link.write(chunk)
			return n
		}
		v = newVictim(t, Config{TLS: tls}, tune)
		flood = true
		if err := v.qp.Close(); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			calls = 0
			v.cq.Poll(make([]verbs.Completion, 4))
		}
		calls = 0
		start := time.Now()
		flood = false
		_ = v.Close()
		t.Logf("TLS %v: closed in %v", tls, time.Since(start))
	}
}

// While one peer floods a device others are heard too, and what is queued for them leaves.
func TestFloodBesideOthers(t *testing.T) {
	for _, tls := range []bool{false, true} {
		c := Config{TLS: tls}
		x, loud := newDuoOf(t, c, normal)
		quiet := newNode(t, c, normal)
		joinAs(t, x, quiet, 3, 4)
		second := x.qp
		p := make([]byte, 100)
		wr := []verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: p}}
		shout := func() {
			for range 40 { // more than one poll takes
				if n, _ := loud.qp.PostSend(wr); n == 0 {
					break
				}
			}
			loud.poll()
		}
		for range 50 {
			shout()
			x.poll()
		}
		for round := range 20 {
			quiet.send(t, []byte{1})
			quiet.poll()
			polls, found := 0, false // nothing was sent: the other queue isn't polled
			for ; !found && polls < 2000; polls++ {
				shout()
				for _, m := range x.out[:x.rcq.Poll(x.out)] {
					found = found || m.QP == second.num
				}
			}
			if !found {
				t.Errorf("TLS %v, round %d: a message is not found in %d polls beside a flood", tls, round, polls)
				break
			}
		}
	}
}
