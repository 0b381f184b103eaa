package verbstest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

// The tests of this file drive each device from a goroutine of its own.
var pairTests = []test{
	{"PairConnect", testPairConnect},
	{"PairPingPong", testPairPingPong},
	{"PairStream", testPairStream},
	{"PairRead", testPairRead},
	{"PairMRClose", testPairMRClose},
	{"PairClose", testPairClose},
}

// sent says that all planned is posted and its signaled part complete.
func (e *end) sent() bool { return e.posted == len(e.out) && e.complete() }

func testPairConnect(t *testing.T, h Harness) {
	for range 10 {
		r := newRig(t, h, 2, shape{})
		a, b := r.join(0, 1)
		a.plan(spec{data: 100, flags: verbs.Signaled})
		b.plan(spec{data: 3000, flags: verbs.Signaled})
		one := func(e *end) func() error {
			return func() error {
				if err := e.qp.Connect(e.peer.side.dev.Addr(), e.label, e.peer.label); err != nil {
					return err
				}
				e.auto = true
				return r.drive(e.side, "the first message", func() bool { return e.sent() && e.received == 1 })
			}
		}
		r.together(part{a.side, one(a)}, part{b.side, one(b)})
	}
}

func testPairPingPong(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	rng := newRand(r.seed)
	const rounds = 500
	for range rounds {
		a.plan(randomSpec(rng, a))
		b.plan(randomSpec(rng, b))
	}
	// One side posts message i when it has received i+behind of them.
	play := func(e *end, behind int) func() error {
		return func() error {
			for i := range rounds {
				err := r.drive(e.side, "the peer's turn", func() bool { return e.received >= i+behind })
				if err != nil {
					return err
				}
				err = r.drive(e.side, "room", func() bool { return e.post(i+1) != nil || e.posted == i+1 })
				if err != nil {
					return err
				}
			}
			return r.drive(e.side, "the last message", func() bool { return e.received == rounds && e.sent() })
		}
	}
	r.together(part{a.side, play(a, 0)}, part{b.side, play(b, 1)})
}

// Random messages both ways as fast as they go.
func testPairStream(t *testing.T, h Harness) {
	for _, sh := range []shape{{}, {slots: 6, perPeer: true}} {
		r, a, b := newPair(t, h, sh)
		rng := newRand(r.seed)
		for range 3000 {
			a.plan(randomSpec(rng, a))
			b.plan(randomSpec(rng, b))
		}
		run := func(e *end) func() error {
			want := len(e.peer.out)
			return func() error {
				e.auto = true
				return r.drive(e.side, "the stream", func() bool { return e.received == want && e.sent() })
			}
		}
		r.together(part{a.side, run(a)}, part{b.side, run(b)})
	}
}

// Reads both ways while messages flow.
func testPairRead(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	rng := newRand(r.seed)
	for range 300 {
		a.plan(randomSpec(rng, a))
		b.plan(randomSpec(rng, b))
	}
	const reads = 12
	// Each side says that it has done with the other's memory.
	done := make(chan struct{}, 2)
	over := func() bool { return len(done) == 2 }
	run := func(e *end, src *source, tgs []*target) func() error {
		want := len(e.peer.out)
		return func() error {
			e.auto = true
			for i, tg := range tgs {
				err := r.drive(e.side, "room for a read", func() bool {
					err := tg.try(src.at(i))
					return err == nil || !errors.Is(err, verbs.ErrFull)
				})
				if err != nil {
					return err
				}
				if i%2 == 0 {
					continue
				}
				if err := r.drive(e.side, "a read", tg.done); err != nil {
					return err
				}
			}
			err := r.drive(e.side, "the stream and the reads", func() bool { return e.received == want && e.sent() && e.open == 0 })
			done <- struct{}{}
			if err != nil {
				return err
			}
			return r.drive(e.side, "the peer's reads", over)
		}
	}
	sa, sb := r.newSource(0, 500_000), r.newSource(1, 500_000)
	var ta, tb []*target
	for i := range reads {
		ta = append(ta, r.newTarget(a, 400_000, i))
		tb = append(tb, r.newTarget(b, 499_000, 2*i))
	}
	r.together(part{a.side, run(a, sb, ta)}, part{b.side, run(b, sa, tb)})
	for i := range reads {
		r.arrived(ta[i], sb, i)
		r.arrived(tb[i], sa, i)
	}
}

// The owner closes the registration while the peer reads, and spoils the
// memory at once.
func testPairMRClose(t *testing.T, h Harness) {
	for round := range 8 {
		r, a, b := newPair(t, h, shape{})
		r.ping(a, b)
		rng := newRand(r.seed)
		src := r.newSource(1, 2<<20)
		old := bytes.Clone(src.mem)
		from := src.at(0)
		tg := r.newTarget(a, len(src.mem), 0)
		a.tolerant, b.tolerant = true, true
		done := make(chan struct{})
		turns := rng.IntN(1 + 40*round)
		r.together(part{a.side, func() error {
			defer close(done)
			err := r.drive(a.side, "room for a read", func() bool {
				err := tg.try(from)
				return err == nil || !errors.Is(err, verbs.ErrFull)
			})
			if err != nil {
				return err
			}
			return r.drive(a.side, "the end of the read", tg.done)
		}}, part{b.side, func() error {
			err := r.drive(b.side, "some turns", func() bool { turns--; return turns < 0 })
			if err != nil {
				return err
			}
			if err := src.mr.Close(); err != nil {
				return err
			}
			scribble(src.mem)
			return r.drive(b.side, "the reader", func() bool {
				select {
				case <-done:
					return true
				default:
					return false
				}
			})
		}})
		checkClosedRead(r, tg, old)
	}
}

// One side closes its device while the other sends.
func testPairClose(t *testing.T, h Harness) {
	for range 8 {
		r, a, b := newPair(t, h, shape{depth: 8, slots: 8})
		r.ping(a, b)
		rng := newRand(r.seed)
		for range 2000 {
			a.plan(randomSpec(rng, a))
			b.plan(randomSpec(rng, b))
		}
		a.tolerant, b.tolerant = true, true
		turns := rng.IntN(300)
		a.auto, b.auto = true, true
		r.together(part{a.side, func() error {
			return r.drive(a.side, "the peer's end", func() bool { return a.isClosed && a.complete() })
		}}, part{b.side, func() error {
			err := r.drive(b.side, "some turns", func() bool { turns--; return turns < 0 })
			if err != nil {
				return err
			}
			b.side.idle = true // its queues are gone
			return b.side.dev.Close()
		}})
		if a.closed != verbs.StatusPeerClosed {
			t.Errorf("closed with %v, want %v", a.closed, verbs.StatusPeerClosed)
		}
	}
}
