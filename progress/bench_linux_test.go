package progress

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// readyCQ always has a completion; emptyCQ never.
type readyCQ struct{ verbs.CQ }

func (readyCQ) Poll(out []verbs.Completion) int {
	out[0].Op = verbs.OpRecv
	return 1
}
func (readyCQ) Pending() bool        { return true }
func (readyCQ) Arm(verbs.Event) bool { return true }

type emptyCQ struct{ verbs.CQ }

func (emptyCQ) Poll([]verbs.Completion) int { return 0 }
func (emptyCQ) Pending() bool               { return false }
func (emptyCQ) Arm(verbs.Event) bool        { return false }

// BenchmarkWaitPending is the engine's own share of a receive whose message is
// there: lock, take the role, one poll, one handler, leave.
func BenchmarkWaitPending(b *testing.B) {
	e, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	var w Waiter
	e.AddRecv(readyCQ{}, false, func(*verbs.Completion) { e.Done(&w) })
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		e.Lock()
		w.Left = 1
		if err := e.Wait(ctx, &w); err != nil {
			b.Fatal(err)
		}
		e.Unlock()
	}
}

// BenchmarkPollEmpty is a Test that finds nothing.
func BenchmarkPollEmpty(b *testing.B) {
	e, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	e.AddRecv(emptyCQ{}, false, nil)
	for b.Loop() {
		e.Lock()
		e.Poll()
		e.Unlock()
	}
}

// BenchmarkSpinRound is one round of a driver that finds nothing: ns/look is
// what lies between a message's coming and its being seen, at most.
func BenchmarkSpinRound(b *testing.B) {
	e, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	e.AddRecv(emptyCQ{}, false, nil)
	for b.Loop() {
		e.spin(true)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/spinRound, "ns/look")
}

// BenchmarkSleepWake is a wait that goes to sleep at once and is woken by another
// thread: ns/op has all of it, wake-ns what passes between the event and the
// waiter's return.
func BenchmarkSleepWake(b *testing.B) {
	t := newBench(b, Config{})
	for range 4 {
		t.waits.note(&idle{slept: true}) // skip the yielding
	}
	ask, pushed := make(chan struct{}), make(chan time.Time, 1)
	go func() {
		for range ask {
			for !t.sleepsNow() {
				runtime.Gosched()
			}
			pushed <- time.Now()
			t.cq.push(completion(1))
		}
	}()
	defer close(ask)
	var w Waiter
	t.Lock()
	t.waiters[1] = &w
	t.Unlock()
	var total time.Duration
	ctx := context.Background()
	for b.Loop() {
		ask <- struct{}{}
		t.Lock()
		w.Left = 1
		err := t.Wait(ctx, &w)
		t.Unlock()
		if err != nil {
			b.Fatal(err)
		}
		total += time.Since(<-pushed)
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "wake-ns")
	if t.count.Sleeps == 0 {
		b.Error("it never slept")
	}
}

func (b *bench) sleepsNow() bool {
	b.Lock()
	defer b.Unlock()
	return b.asleep && b.cq.armedFor() == verbs.Any
}
