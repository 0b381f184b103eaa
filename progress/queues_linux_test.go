package progress

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
)

// A queue that stays quiet beside a busy one is polled less and less often, down
// to once in 32 passes; when something comes it is found, and polled each time
// again.
func TestQuietQueues(t *testing.T) {
	b := newBench(t, Config{})
	quiet := b.dev.newCQ()
	var found []uint64
	b.AddRecv(quiet, false, func(c *verbs.Completion) { found = append(found, c.ID) })
	pass := func(n int) {
		b.Lock()
		defer b.Unlock()
		for range n {
			b.cq.push(completion(1))
			b.Poll()
		}
	}
	pass(64)
	if n := quiet.polls.Load(); n != 64 {
		t.Errorf("%d polls in the first 64 passes", n)
	}
	pass(10_000)
	if n, skipped := quiet.polls.Load(), b.Counters().SkippedPolls; int(skipped) != 10_064-int(n) {
		t.Errorf("%d polls and %d skipped, of 10064", n, skipped)
	}
	n := quiet.polls.Load()
	pass(3200)
	if n = quiet.polls.Load() - n; n != 100 {
		t.Errorf("%d polls in 3200 passes, after 10000", n)
	}
	if busy := b.cq.polls.Load(); busy != 13_264 {
		t.Errorf("the busy queue was polled %d times", busy)
	}
	quiet.push(completion(5))
	before := quiet.polls.Load()
	pass(32)
	if len(found) != 1 {
		t.Fatalf("found %v in 32 passes", found)
	}
	pass(32)
	if got := quiet.polls.Load() - before; got < 32 {
		t.Errorf("%d polls in 64 passes, in the first half of which it had something", got)
	}
	// Both are looked at before sleep.
	pass(5000)
	quiet.push(completion(6))
	b.Lock()
	defer b.Unlock()
	if b.armAll(verbs.Any) || b.Poll() != 1 || len(found) != 2 {
		t.Errorf("a quiet queue with something in it was slept over: %v", found)
	}
}

// A queue that is alone is never skipped.
func TestLoneQueue(t *testing.T) {
	b := newBench(t, Config{})
	b.Lock()
	defer b.Unlock()
	for range 10_000 {
		b.Poll()
	}
	if n := b.cq.polls.Load(); n != 10_000 || b.count.SkippedPolls != 0 {
		t.Errorf("%d polls, %+v", n, b.count)
	}
}

// Send queues are polled while somebody needs it, and when they are drained.
func TestNeedSends(t *testing.T) {
	b := newBench(t, Config{})
	one, two := b.dev.newCQ(), b.dev.newCQ()
	var got []uint64
	note := func(c *verbs.Completion) { got = append(got, c.ID) }
	b.AddSend(one, false, note)
	b.AddSend(two, false, note)
	b.Lock()
	defer b.Unlock()
	one.push(completion(1))
	two.push(completion(2))
	polls := func() [2]int64 { return [2]int64{one.polls.Load(), two.polls.Load()} }
	for range 100 {
		b.Poll()
	}
	if len(got) != 0 || polls() != [2]int64{} {
		t.Errorf("polled without need: %v, %v", got, polls())
	}
	if n := b.Drain(two); n != 1 || polls() != [2]int64{0, 1} {
		t.Errorf("drained %d, %v", n, polls())
	}
	if n := b.Drain(b.cq); n != 0 {
		t.Errorf("drained %d of a queue that was not added", n)
	}
	b.NeedSends(one, 2)
	b.NeedSends(one, -1)
	b.Poll()
	b.NeedSends(one, -1)
	b.Poll()
	if polls() != [2]int64{1, 2} {
		t.Errorf("polls with a need of one, and then of none: %v", polls())
	}
	if d := cmp.Diff([]uint64{2, 1}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if b.count.SendPolls != 3 {
		t.Errorf("%+v", b.count)
	}
}

// A handler that drains, from within a drain or a poll, sees each completion
// once.
func TestDrainWithin(t *testing.T) {
	b := newBench(t, Config{})
	send := b.dev.newCQ()
	seen := map[uint64]int{}
	b.AddSend(send, false, func(c *verbs.Completion) {
		id := c.ID
		b.Drain(send)
		seen[id]++
	})
	b.Lock()
	defer b.Unlock()
	const count = 10 * batch
	for i := range uint64(count) {
		send.push(completion(i))
	}
	b.Drain(send)
	b.NeedSends(send, 1)
	b.Poll()
	for send.Pending() {
		b.Poll()
	}
	for i := range uint64(count) {
		if seen[i] != 1 {
			t.Errorf("completion %d was seen %d times", i, seen[i])
		}
	}
}

// While the driver looks without the lock nobody polls, not even a send queue of the
// same device: the driver does that next.
func TestDrainBesideLook(t *testing.T) {
	b := newBench(t, Config{OwnCore: true})
	send := b.dev.newCQ()
	looks, drained := make(chan struct{}), make(chan struct{})
	var once sync.Once
	b.cq.onLook = func() {
		once.Do(func() {
			close(looks)
			<-drained
		})
	}
	b.Lock()
	b.AddSend(send, false, func(*verbs.Completion) {})
	b.Unlock()
	send.push(completion(1))
	driver := b.wait(t.Context(), 2, 1)
	<-looks
	b.Lock()
	if n := b.Drain(send); n != 0 || send.polls.Load() != 0 {
		t.Errorf("drained %d, by %d polls, while the driver looks", n, send.polls.Load())
	}
	b.NeedSends(send, 1)
	b.Unlock()
	close(drained)
	b.until("the driver to poll the send queue", func() bool { return !send.Pending() })
	b.cq.push(completion(2))
	b.ends(driver, "the driver")
	b.Lock()
	defer b.Unlock()
	send.push(completion(3))
	if n := b.Drain(send); n != 1 {
		t.Errorf("drained %d while nobody drives", n)
	}
}

// What is put off while others are being tried is not forgotten.
func TestLaterWithin(t *testing.T) {
	b := newBench(t, Config{})
	b.Lock()
	defer b.Unlock()
	inner := &flusher{}
	outer := &flusher{done: true, then: func() { b.Later(inner) }}
	stays := &flusher{}
	b.Later(stays)
	b.Later(outer)
	b.Later(&flusher{done: true})
	b.Poll()
	b.Poll()
	if inner.tries == 0 || outer.tries != 1 || stays.tries != 2 {
		t.Errorf("tried: inner %d, outer %d, the one that stays %d", inner.tries, outer.tries, stays.tries)
	}
	inner.done, stays.done = true, true
	b.Poll()
	if len(b.pending) != 0 {
		t.Errorf("%d are left", len(b.pending))
	}
	tries := inner.tries
	b.Poll()
	if inner.tries != tries {
		t.Error("tried after it was done")
	}
}

// Closing ends all waits, whatever they do, and what comes after.
func TestClose(t *testing.T) {
	b := newBench(t, Config{})
	var gs []*waiting
	gs = append(gs, b.wait(context.Background(), 0, 1))
	b.sleeping()
	for i := range uint64(5) {
		gs = append(gs, b.parks(1+i))
	}
	b.Close()
	for i, g := range gs {
		if !g.returned() {
			t.Fatalf("waiter %d has not returned when Close has", i)
		}
		if !errors.Is(g.err, ErrClosed) || !errors.Is(g.err, net.ErrClosed) {
			t.Errorf("waiter %d: %v", i, g.err)
		}
	}
	b.Lock()
	defer b.Unlock()
	polls := b.cq.polls.Load()
	if err := b.Wait(context.Background(), &Waiter{Left: 1}); !errors.Is(err, ErrClosed) {
		t.Errorf("Wait after Close: %v", err)
	}
	if err := b.Wait(context.Background(), &Waiter{}); err != nil {
		t.Errorf("Wait for nothing after Close: %v", err)
	}
	if n := b.Poll(); n != 0 || b.cq.polls.Load() != polls {
		t.Errorf("Poll after Close: %d, %d polls", n, b.cq.polls.Load()-polls)
	}
}

// A spinning driver ends too.
func TestCloseSpinning(t *testing.T) {
	for range 20 {
		b := newBench(t, Config{OwnCore: true})
		g := b.wait(context.Background(), 0, 1)
		b.until("a driver", func() bool { return b.driving })
		b.Close()
		b.ends(g, "the driver")
		if !errors.Is(g.err, ErrClosed) {
			t.Error(g.err)
		}
	}
}
