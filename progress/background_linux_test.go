package progress

import (
	"context"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

func (b *bench) backgroundArmed() bool { return b.back.armed && b.cq.armedFor() == verbs.Solicited }

// While nobody drives, the background goroutine is armed for solicited events,
// and moves what comes with them; ordinary ones cost no wake-up.
func TestBackground(t *testing.T) {
	b := newBench(t, Config{Background: true})
	b.until("the background to arm", b.backgroundArmed)
	w := &Waiter{Left: 2}
	b.Lock()
	b.waiters[1] = w
	polls := b.count.RecvPolls
	b.Unlock()
	b.cq.push(completion(1))
	b.Lock()
	if w.Left != 2 || b.count.RecvPolls != polls || !b.backgroundArmed() {
		t.Errorf("an ordinary completion: %d left, %d polls, armed %v", w.Left, b.count.RecvPolls-polls, b.backgroundArmed())
	}
	b.Unlock()
	b.cq.push(solicited(1))
	b.until("both to be handled", func() bool { return w.Left == 0 })
	b.until("the background to arm again", b.backgroundArmed)
	if b.count.BackgroundSleeps < 2 || b.count.Sleeps != 0 {
		t.Errorf("%+v", b.count)
	}
}

// A driver disarms the background goroutine at once; when it has left, the
// background arms again.
func TestBackgroundGivesWay(t *testing.T) {
	b := newBench(t, Config{Background: true})
	for range 5 {
		b.until("the background to arm", b.backgroundArmed)
		b.Lock()
		b.Poll()
		if b.back.armed || b.cq.armedFor() != verbs.None {
			t.Errorf("after a poll: armed %v for %v", b.back.armed, b.cq.armedFor())
		}
		b.Unlock()
		b.until("the background to arm", b.backgroundArmed)
		sleeps := b.count.BackgroundSleeps
		g := b.wait(context.Background(), 1, 1)
		b.sleeping() // armed for all events, by the driver
		if b.back.armed {
			t.Error("both are armed")
		}
		b.cq.push(completion(1))
		b.ends(g, "the driver")
		if b.count.BackgroundSleeps != sleeps {
			t.Error("the background slept beside a driver")
		}
	}
}

// While somebody polls again and again the background goroutine keeps away.
func TestBackgroundKeepsAway(t *testing.T) {
	b := newBench(t, Config{Background: true})
	b.until("the background to arm", b.backgroundArmed)
	b.pretend()
	b.Lock()
	b.disarmBackground()
	before := b.count.BackgroundSleeps
	b.Unlock()
	g := b.wait(context.Background(), 1, 1) // parks, and is done by nobody but us
	b.until("a waiter to park", func() bool { return g.w.parked })
	ticks := 0
	b.until("some ticks", func() bool { ticks++; return ticks > 200 }) // 20 ms: four of its own
	b.Lock()
	if b.count.BackgroundSleeps != before || b.back.armed {
		t.Errorf("armed beside a driver: %+v", b.count)
	}
	b.driving = false
	b.Done(g.w)
	b.Unlock()
	b.ends(g, "the waiter")
	b.until("the background to arm", b.backgroundArmed)
}

// What is posted while the background goroutine sleeps, and only a poll moves on,
// is moved on: the program may compute for long.
func TestBackgroundKicked(t *testing.T) {
	b := newBench(t, Config{Background: true})
	send := b.dev.newCQ()
	b.AddSend(send, false, b.done)
	for i := range 5 {
		b.until("the background to arm", b.backgroundArmed)
		f := &flusher{done: i%2 == 0}
		b.Lock()
		b.Later(f)
		b.Unlock()
		b.until("what waits to be tried", func() bool { return f.tries > 0 })
		if !f.done {
			b.until("the send queue to be armed", func() bool { return b.back.armed && send.armedFor() == verbs.Solicited })
			b.Lock()
			f.done = true
			b.Unlock()
			send.push(solicited(9))
			b.until("nothing to wait", func() bool { return len(b.pending) == 0 })
		}
	}
}

// Closing ends the background goroutine in each of its states; that none is left
// is checked after all tests.
func TestBackgroundClose(t *testing.T) {
	for range 10 {
		b := newBench(t, Config{Background: true})
		b.Close()
		b = newBench(t, Config{Background: true})
		b.until("the background to arm", b.backgroundArmed)
		b.Close()
		b = newBench(t, Config{Background: true})
		g := b.wait(context.Background(), 1, 1)
		b.sleeping()
		b.cq.push(completion(1))
		b.ends(g, "the driver")
		b.Close()
	}
}
