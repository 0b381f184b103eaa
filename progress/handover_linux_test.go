package progress

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Many goroutines wait, each for its own completions, some test without waiting,
// some give up and try again; every completion wakes who waits for it.
func TestHandOver(t *testing.T) {
	for seed := range uint64(4) {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("seed %d/own core %v", seed, own), func(t *testing.T) { handOver(t, seed, own) })
		}
	}
}

func handOver(t *testing.T, seed uint64, own bool) {
	const workers = 12
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	b := newBench(t, Config{OwnCore: own, Background: seed%2 == 1})
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	// The feeder completes what is asked for, at once, or later and several
	// together.
	asked := make(chan uint64, workers)
	var feeder, wg sync.WaitGroup
	feeder.Go(func() {
		rng := rand.New(rand.NewPCG(seed, 1))
		for id := range asked {
			for range rng.IntN(8) {
				runtime.Gosched()
			}
			if rng.IntN(20) == 0 { // the driver may sleep by then
				<-time.After(time.Duration(rng.IntN(600)) * time.Microsecond)
			}
			b.cq.push(completion(id))
		}
	})
	errs := make([]error, workers)
	for i := range workers {
		wg.Go(func() { errs[i] = b.worker(ctx, asked, uint64(i), rounds, rand.New(rand.NewPCG(seed, uint64(i+2)))) })
	}
	wg.Wait()
	close(asked)
	feeder.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("worker %d: %v; %+v", i, err, b.count)
		}
	}
	if !t.Failed() && (b.parked.head != nil || b.parked.tail != nil || b.driving || b.asleep) {
		t.Errorf("left behind: parked %v, driving %v, asleep %v", b.parked.head, b.driving, b.asleep)
	}
}

func (b *bench) worker(ctx context.Context, asked chan<- uint64, id uint64, rounds int, rng *rand.Rand) error {
	var w Waiter
	b.Lock()
	defer b.Unlock()
	b.waiters[id] = &w
	for round := range rounds {
		w.Left = 1 + rng.IntN(3)
		b.Unlock()
		for range w.Left {
			asked <- id
		}
		b.Lock()
		switch rng.IntN(4) {
		case 0: // test
			for w.Left > 0 {
				b.Poll()
				b.Unlock()
				runtime.Gosched()
				b.Lock()
				if ctx.Err() != nil {
					return fmt.Errorf("round %d, testing: %w", round, ctx.Err())
				}
			}
		case 1: // give up, and try again
			short, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(300))*time.Microsecond)
			err := b.Wait(short, &w)
			cancel()
			if (err == nil) != (w.Left <= 0) {
				return fmt.Errorf("round %d: %w with %d left", round, err, w.Left)
			}
		}
		if err := b.Wait(ctx, &w); err != nil {
			return fmt.Errorf("round %d, with %d left: %w", round, w.Left, err)
		}
		if w.Left != 0 || w.parked || w.driver || len(w.wake) != 0 {
			return fmt.Errorf("round %d: after Wait: %+v, %d tokens", round, w, len(w.wake))
		}
	}
	return nil
}

// The role is handed to a waiter that turns out to be done when it wakes up: it
// must pass the role on.
func TestHandOverToDone(t *testing.T) {
	b := newBench(t, Config{})
	b.pretend()
	first, second := b.parks(1), b.parks(2)
	b.Lock()
	b.driving = false
	b.handOver() // to the first
	b.Done(first.w)
	b.Unlock()
	b.ends(first, "who was handed the role")
	b.cq.push(completion(2))
	b.ends(second, "who was parked behind it")
}

// The same for one that is cancelled when it is woken.
func TestHandOverToCancelled(t *testing.T) {
	for range 50 {
		b := newBench(t, Config{})
		b.pretend()
		ctx, cancel := context.WithCancel(context.Background())
		first := b.wait(ctx, 1, 1)
		b.until("a waiter to park", func() bool { return b.parked.tail == first.w })
		second := b.parks(2)
		b.Lock()
		b.driving = false
		b.handOver()
		cancel()
		b.Unlock()
		b.ends(first, "who was cancelled")
		if first.err == nil {
			t.Fatal("no error")
		}
		b.cq.push(completion(2))
		b.ends(second, "who was parked behind it")
		b.Close()
	}
}

// pretend takes the driver's role without driving.
func (b *bench) pretend() {
	b.Lock()
	b.driving = true
	b.Unlock()
}

// parks starts a waiter and waits until it is parked.
func (b *bench) parks(id uint64) *waiting {
	b.t.Helper()
	g := b.wait(context.Background(), id, 1)
	b.until("a waiter to park", func() bool { return b.parked.tail == g.w })
	return g
}

// Whoever comes first is handed the role first, and one role only is handed on.
func TestHandOverOrder(t *testing.T) {
	b := newBench(t, Config{})
	b.pretend()
	var gs []*waiting
	for i := range uint64(4) {
		gs = append(gs, b.parks(i))
	}
	b.Lock()
	b.driving = false
	b.handOver()
	b.Unlock()
	b.until("the first to drive", func() bool { return b.driving && gs[0].w.driver && b.count.HandOvers == 1 })
	for i := range uint64(4) {
		b.cq.push(completion(i))
		b.ends(gs[i], "a waiter")
		if i < 3 {
			b.until("the next to drive", func() bool { return gs[i+1].w.driver })
		}
	}
	if b.count.Parks != 4 || b.count.HandOvers != 4 {
		t.Errorf("%+v", b.count)
	}
}

// A driver completes others' requests: they return, and it goes on.
func TestDriverServesOthers(t *testing.T) {
	b := newBench(t, Config{})
	driver := b.wait(context.Background(), 0, 1)
	b.until("a driver", func() bool { return b.driving })
	for i := range uint64(20) {
		g := b.parks(i + 1)
		b.cq.push(completion(i + 1))
		b.ends(g, "a waiter")
	}
	if driver.returned() || b.count.HandOvers != 0 {
		t.Errorf("the driver has returned %v, %+v", driver.returned(), b.count)
	}
	b.cq.push(completion(0))
	b.ends(driver, "the driver")
}

// One waiter waits for several completions, which come in several polls.
func TestWaitForMany(t *testing.T) {
	b := newBench(t, Config{})
	g := b.wait(context.Background(), 1, 3*batch+1)
	for range 3 * batch {
		b.cq.push(completion(1))
	}
	b.until("all but one", func() bool { return g.w.Left == 1 })
	b.cq.push(completion(1))
	b.ends(g, "the waiter")
	if g.err != nil {
		t.Error(g.err)
	}
}

// Nothing to wait for: Wait looks at nothing.
func TestWaitForNothing(t *testing.T) {
	b := newBench(t, Config{})
	done, cancel := context.WithCancel(context.Background())
	cancel()
	b.Lock()
	defer b.Unlock()
	for _, left := range []int{0, -1} {
		if err := b.Wait(done, &Waiter{Left: left}); err != nil || b.cq.polls.Load() != 0 {
			t.Errorf("%v, %d polls", err, b.cq.polls.Load())
		}
	}
}
