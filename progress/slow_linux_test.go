package progress

import (
	"context"
	"math/bits"
	"testing"
	"testing/synctest"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// newSlowBench has a slow queue beside the other one. What comes there is found.
func newSlowBench(t *testing.T, c Config) (b *bench, slow *fakeCQ, found *int) {
	b = newBench(t, c)
	slow, found = b.dev.newCQ(), new(int)
	b.Lock()
	defer b.Unlock()
	b.AddRecv(slow, true, func(*verbs.Completion) { *found++ })
	return b, slow, found
}

// inStillTime runs a test where time passes only while all sleep.
func inStillTime(t *testing.T, f func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		onChannels = true
		defer func() { onChannels = false }()
		f(t)
	})
}

// Beside a queue that always has something a quiet slow one is polled once in 128
// passes; when it has something it is found, and looked at often for a while.
func TestSlowBesideBusy(t *testing.T) { inStillTime(t, testSlowBesideBusy) }

func testSlowBesideBusy(t *testing.T) {
	b, slow, found := newSlowBench(t, Config{})
	b.Lock()
	defer b.Unlock()
	pass := func(n int) {
		for range n {
			b.cq.push(completion(1))
			b.poll()
		}
	}
	const n = 100 * slowMost
	pass(n)
	if polls := int(slow.polls.Load()); polls > n*pollLooks/slowMost+20 || polls < n*pollLooks/slowMost {
		t.Errorf("%d polls in %d passes", polls, n)
	}
	slow.push(completion(1))
	passes := 0
	for ; *found == 0 && passes <= slowMost/pollLooks; passes++ {
		pass(1)
	}
	if every := b.recv[1].pace.every; *found != 1 || every != slowLeast {
		t.Errorf("found %d in %d passes, after which it is looked at once in %d", *found, passes, every)
	}
}

// Looks at a slow queue in vain are few: about as many as there are doublings, and then
// one in 1024. What comes is seen after at most as many looks more.
func TestSlowLooks(t *testing.T) {
	b, slow, _ := newSlowBench(t, Config{})
	look := func(n int) (found bool) {
		for range n {
			found = b.lookAround() || found
		}
		return found
	}
	for _, n := range []int{1, slowMost, 100 * slowMost} {
		before := slow.looks.Load()
		b.recv[1].pace = pace{}
		if look(n) {
			t.Fatal("found something")
		}
		got, most := int(slow.looks.Load()-before), bits.Len(uint(min(n, slowMost)))+n/slowMost+1
		if got < 1 || got > most {
			t.Errorf("%d looks of %d, want at most %d", got, n, most)
		}
	}
	slow.push(completion(1))
	if !look(slowMost) {
		t.Error("what came was not seen")
	}
	if b.recv[1].pace.left != 0 {
		t.Error("the poll that follows doesn't take it")
	}
	before := slow.looks.Load()
	b.cq.push(completion(1))
	if !b.lookAround() || slow.looks.Load() != before {
		t.Error("a slow queue is looked at although another one has something")
	}
}

// However long the polls of a busy queue take, a slow one is polled again after a while;
// and a program that polls now and then by itself polls it each time.
func TestSlowInTime(t *testing.T) {
	inStillTime(t, func(t *testing.T) {
		b, slow, found := newSlowBench(t, Config{})
		b.recv[0].handle = func(*verbs.Completion) { time.Sleep(time.Millisecond) }
		b.Lock()
		pass := func(n int, poll func() int) {
			for range n {
				b.cq.push(completion(1))
				poll()
				time.Sleep(time.Microsecond)
			}
		}
		pass(1000, b.poll)
		slow.push(completion(1))
		if pass(clockEvery, b.poll); *found != 1 {
			t.Errorf("found %d after %d polls of a millisecond", *found, clockEvery)
		}
		b.recv[0].handle = func(*verbs.Completion) {}
		before := slow.polls.Load()
		for range 100 {
			time.Sleep(testLate)
			pass(1, b.Poll)
		}
		if slow.polls.Load()-before != 100 {
			t.Errorf("%d polls of 100", slow.polls.Load()-before)
		}
		b.Unlock()
	})
}

// Where a slow queue is alone it is polled without a look, a few times with the lock
// held, and looked at a few times in a round.
func TestSlowAlone(t *testing.T) {
	b := newBench(t, Config{})
	b.Lock()
	b.recv = nil
	slow := b.dev.newCQ()
	b.AddRecv(slow, true, b.done)
	if n := b.glance(&idle{}, &Waiter{Left: 1}); n != 0 || slow.looks.Load() != 0 || slow.polls.Load() != slowGlances {
		t.Errorf("%d: %d looks, %d polls", n, slow.looks.Load(), slow.polls.Load())
	}
	b.Unlock()
	if b.spin(true) || slow.looks.Load() != slowRound {
		t.Errorf("%d looks", slow.looks.Load())
	}
	g := b.wait(context.Background(), 1, 1)
	b.until("the driver to sleep", func() bool { return b.asleep })
	slow.push(completion(1))
	b.ends(g, "the driver")
}

// A send queue that is slow is polled when it is needed, and seldom for the sake of
// another one.
func TestSlowSends(t *testing.T) { inStillTime(t, testSlowSends) }

func testSlowSends(t *testing.T) {
	b, _, _ := newSlowBench(t, Config{})
	one, slow := b.dev.newCQ(), b.dev.newCQ()
	b.Lock()
	defer b.Unlock()
	b.AddSend(one, false, b.done)
	b.AddSend(slow, true, b.done)
	b.NeedSends(one, 1)
	for range slowMost {
		b.poll()
	}
	if n := slow.polls.Load(); n > 20 || n == 0 || one.polls.Load() != slowMost {
		t.Errorf("%d polls of the slow one, %d of the one that is needed", n, one.polls.Load())
	}
	before := slow.polls.Load()
	b.NeedSends(one, -1)
	b.NeedSends(slow, 1)
	for range 100 {
		b.poll()
	}
	if n := slow.polls.Load() - before; n != 100 {
		t.Errorf("%d polls of the slow one that is needed", n)
	}
}

// What wakes the background goroutine in vain wakes it less and less often, and what is
// useful at once again.
func TestBackgroundPaused(t *testing.T) {
	b, slow, found := newSlowBench(t, Config{Background: true})
	useful := false
	b.Lock()
	b.recv[1].handle = func(*verbs.Completion) {
		*found++
		if useful {
			b.Useful()
		}
	}
	b.Unlock()
	once := func() time.Duration {
		b.until("the background to arm", b.backgroundArmed)
		n := *found
		slow.push(solicited(1))
		b.until("the message", func() bool { return *found > n })
		b.Lock()
		defer b.Unlock()
		return b.back.pause
	}
	b.until("the background to arm", b.backgroundArmed)
	last := time.Duration(0)
	for range 12 {
		pause := once()
		if pause < last || pause == 0 {
			t.Errorf("a pause of %v after one of %v", pause, last)
		}
		last = pause
	}
	if last != pauseMost {
		t.Errorf("at last a pause of %v", last)
	}
	b.Lock()
	useful = true
	b.Unlock()
	if pause := once(); pause != 0 {
		t.Errorf("a pause of %v after what is useful", pause)
	}
}
