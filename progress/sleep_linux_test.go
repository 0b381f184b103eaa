package progress

import (
	"context"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

// flusher is tried until it is told that it is done.
type flusher struct {
	tries int
	done  bool
	then  func()
}

// Flush implements Flusher.
func (f *flusher) Flush() bool {
	f.tries++
	if f.then != nil {
		f.then()
	}
	return f.done
}

// A driver that sleeps is woken by what its queues get, whatever goroutine or
// process it comes from.
func TestSleepWakes(t *testing.T) {
	b := newBench(t, Config{})
	for i := range 20 {
		g := b.wait(context.Background(), 1, 1)
		b.sleeping()
		b.cq.push(completion(1))
		b.ends(g, "a sleeper")
		if b.cq.armedFor() != verbs.None {
			t.Fatalf("round %d: still armed for %v", i, b.cq.armedFor())
		}
	}
	if b.count.Sleeps < 20 || b.count.Wakes != b.count.Sleeps {
		t.Errorf("%+v", b.count)
	}
}

// A driver that sleeps is kicked by what no device tells.
func TestKicks(t *testing.T) {
	for _, v := range []struct {
		name string
		kick func(t *testing.T, b *bench, g *waiting)
	}{
		{"Done", func(_ *testing.T, b *bench, g *waiting) {
			b.Lock()
			b.Done(g.w)
			b.Unlock()
		}},
		{"Later", func(_ *testing.T, b *bench, g *waiting) {
			f := &flusher{done: true}
			f.then = func() { b.Done(g.w) }
			b.Lock()
			b.Later(f)
			b.Unlock()
		}},
		{"Posted", func(_ *testing.T, b *bench, g *waiting) {
			// Only a poll finds it, as with a read that this side moves.
			b.Lock()
			b.cq.mu.Lock()
			b.cq.queue = append(b.cq.queue, completion(1))
			b.cq.pending.Add(1)
			b.cq.mu.Unlock()
			b.Posted()
			b.Unlock()
		}},
		{"NeedSends", func(_ *testing.T, b *bench, g *waiting) {
			// Send queues are armed from the next sleep on.
			b.Lock()
			b.NeedSends(b.send[0].cq, 1)
			b.Posted()
			b.Unlock()
			send := b.send[0].cq.(*fakeCQ)
			b.until("the send queue to be armed", func() bool { return send.armedFor() == verbs.Any })
			send.push(completion(1))
		}},
	} {
		t.Run(v.name, func(t *testing.T) {
			b := newBench(t, Config{})
			b.AddSend(b.dev.newCQ(), false, b.done)
			for range 3 {
				g := b.wait(context.Background(), 1, 1)
				b.sleeping()
				v.kick(t, b, g)
				b.ends(g, "a sleeper that was kicked")
				if g.err != nil {
					t.Error(g.err)
				}
				b.Lock()
				b.needs = 0
				b.Unlock()
			}
		})
	}
}

// While something waits to be sent a sleeper is woken by room in a send queue.
func TestSleepArmsSends(t *testing.T) {
	b := newBench(t, Config{})
	send := b.dev.newCQ()
	b.AddSend(send, false, b.done)
	g := b.wait(context.Background(), 1, 1)
	b.sleeping()
	if send.armedFor() != verbs.None {
		t.Errorf("armed for %v with nothing to send", send.armedFor())
	}
	f := &flusher{}
	b.Lock()
	b.Later(f)
	b.Unlock()
	b.until("the send queue to be armed", func() bool { return b.asleep && send.armedFor() == verbs.Any })
	b.Lock()
	tries := f.tries
	f.done = true
	f.then = func() { b.Done(g.w) }
	b.Unlock()
	send.push(completion(9)) // room
	b.ends(g, "the sleeper")
	if tries == 0 || f.tries == tries || len(b.pending) != 0 {
		t.Errorf("tried %d times, then %d, pending %d", tries, f.tries, len(b.pending))
	}
}

// Send completions that nobody needs don't keep a driver awake whose sends wait
// for room.
func TestSleepsWhileFull(t *testing.T) {
	b := newBench(t, Config{})
	send := b.dev.newCQ()
	b.AddSend(send, false, func(*verbs.Completion) {})
	send.push(completion(8))
	f := &flusher{}
	b.Lock()
	b.Later(f)
	b.Unlock()
	g := b.wait(context.Background(), 1, 1)
	b.sleeping()
	b.until("the send queue to be armed", func() bool { return send.armedFor() == verbs.Any })
	b.Lock()
	f.done = true
	b.Unlock()
	b.cq.push(completion(1))
	b.ends(g, "the sleeper")
}

// An event that comes between the last poll and the arming is not slept over.
func TestArmAgain(t *testing.T) {
	b := newBench(t, Config{})
	b.Lock()
	defer b.Unlock()
	b.cq.push(completion(1))
	if b.armAll(verbs.Any) {
		t.Error("armed, with a completion in the queue")
	}
	if b.cq.armedFor() != verbs.None {
		t.Errorf("armed for %v", b.cq.armedFor())
	}
	if err := b.sleep(context.Background(), &Waiter{Left: 1}); err != nil || b.count.Sleeps != 0 {
		t.Errorf("%v, %+v", err, b.count)
	}
}

// Waits that were long of late make the driver sleep without yielding first; a
// short one changes that.
func TestRecentWaits(t *testing.T) {
	var r recentWaits
	for i := range 4 {
		if r.long() {
			t.Errorf("long after %d", i)
		}
		r.note(&idle{slept: true, rounds: 9})
	}
	if !r.long() {
		t.Error("not long after four")
	}
	r.note(&idle{}) // found at the first look: says nothing
	if !r.long() {
		t.Error("a wait of no length counts")
	}
	r.note(&idle{rounds: 3})
	if r.long() {
		t.Error("long after a short one")
	}
}
