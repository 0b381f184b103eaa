package progress

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// A context ends a wait, in whatever state the waiter is: parked, spinning,
// sleeping, or driving while others' completions keep it busy.
func TestContext(t *testing.T) {
	for _, v := range []struct {
		name  string
		state func(b *bench, g *waiting)
		busy  bool
	}{
		{"parked", func(b *bench, g *waiting) { b.until("a waiter to park", func() bool { return g.w.parked }) }, false},
		{"driving", func(b *bench, g *waiting) { b.until("a driver", func() bool { return g.w.driver }) }, false},
		{"sleeping", func(b *bench, _ *waiting) { b.sleeping() }, false},
		{"busy", func(b *bench, g *waiting) {
			b.until("a driver", func() bool { return g.w.driver && b.count.RecvPolls > 10 })
		}, true},
	} {
		t.Run(v.name, func(t *testing.T) {
			b := newBench(t, Config{OwnCore: v.name == "driving"})
			if v.name == "parked" {
				b.pretend()
			}
			if v.busy { // each completion that is handled brings another one
				b.Lock()
				b.recv[0].handle = func(c *verbs.Completion) { b.cq.push(*c) }
				b.Unlock()
				b.cq.push(completion(77))
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			g := b.wait(ctx, 1, 1)
			v.state(b, g)
			if g.returned() {
				t.Fatal("returned before its time")
			}
			begin := time.Now()
			cancel()
			b.ends(g, "a waiter whose context has ended")
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if !errors.Is(g.err, context.Canceled) {
				t.Errorf("error %v", g.err)
			}
			b.Lock()
			defer b.Unlock()
			if g.w.parked || g.w.driver || g.w.Left != 1 || b.asleep || v.name != "parked" && b.driving {
				t.Errorf("left behind: %+v, asleep %v, driving %v", g.w, b.asleep, b.driving)
			}
		})
	}
}

// A deadline wakes a sleeper too, and a waiter can wait again.
func TestDeadlineAsleep(t *testing.T) {
	b := newBench(t, Config{})
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Millisecond)
		g := b.wait(ctx, 1, 1)
		b.ends(g, "a waiter with a deadline")
		cancel()
		if !errors.Is(g.err, context.DeadlineExceeded) {
			t.Fatal(g.err)
		}
	}
	if b.count.Sleeps == 0 || b.count.Wakes != b.count.Sleeps {
		t.Errorf("%+v", b.count)
	}
	g := b.wait(context.Background(), 1, 1)
	b.cq.push(completion(1))
	b.ends(g, "the waiter")
	if g.err != nil {
		t.Error(g.err)
	}
}

// What is done is done: a context that has ended is no error then.
func TestContextEndedButDone(t *testing.T) {
	b := newBench(t, Config{})
	done, cancel := context.WithCancel(context.Background())
	cancel()
	b.cq.push(completion(1))
	g := b.wait(done, 1, 1)
	b.ends(g, "the waiter")
	if g.err != nil {
		t.Error(g.err)
	}
}
