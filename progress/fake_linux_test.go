package progress

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onChannels makes the engines of the tests sleep on channels: see TestOnChannels.
var onChannels bool

// fakeDevice has a wake descriptor, or a channel, and completion queues into which
// the test puts what it likes, from any goroutine.
type fakeDevice struct {
	verbs.Device
	fd   int
	wake chan struct{}
}

func newFakeDevice(t testing.TB) *fakeDevice {
	t.Helper()
	if onChannels {
		return &fakeDevice{fd: -1, wake: make(chan struct{}, 1)}
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return &fakeDevice{fd: fd}
}

func (d *fakeDevice) WakeFDs() []int { return []int{d.fd} }

// Wake implements verbs.Waker.
func (d *fakeDevice) Wake() <-chan struct{} { return d.wake }

func (d *fakeDevice) ring() {
	if d.wake == nil {
		_, _ = unix.Write(d.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		return
	}
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// fakeCQ follows the rules of verbs.CQ: it wakes for what comes after the arming,
// and Arm says if something came before.
type fakeCQ struct {
	dev *fakeDevice

	polls, arms, looks atomic.Int64
	pending            atomic.Int64
	onLook             func() // if set

	mu    sync.Mutex
	queue []verbs.Completion
	armed verbs.Event
}

func (d *fakeDevice) newCQ() *fakeCQ { return &fakeCQ{dev: d} }

func (c *fakeCQ) push(list ...verbs.Completion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, list...)
	c.pending.Add(int64(len(list)))
	for _, v := range list {
		if c.armed == verbs.Any || c.armed == verbs.Solicited && v.Flags&verbs.FlagSolicited != 0 {
			c.armed = verbs.None
			c.dev.ring()
		}
	}
}

// Poll implements verbs.CQ.
func (c *fakeCQ) Poll(out []verbs.Completion) int {
	c.polls.Add(1)
	if c.pending.Load() == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := copy(out, c.queue)
	c.queue = append(c.queue[:0], c.queue[n:]...)
	c.pending.Add(int64(-n))
	return n
}

// Pending implements verbs.CQ.
func (c *fakeCQ) Pending() bool {
	c.looks.Add(1)
	if c.onLook != nil {
		c.onLook()
	}
	return c.pending.Load() != 0
}

// Arm implements verbs.CQ.
func (c *fakeCQ) Arm(ev verbs.Event) bool {
	c.arms.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dev.wake == nil && (ev != verbs.None || c.armed == verbs.None) {
		var b [8]byte
		_, _ = unix.Read(c.dev.fd, b[:])
	}
	c.armed = ev
	return ev != verbs.None && len(c.queue) > 0
}

// Close implements verbs.CQ.
func (c *fakeCQ) Close() error { return nil }

func (c *fakeCQ) armedFor() verbs.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.armed
}

// bench is an engine with one device and a receive CQ whose completions name
// waiters by ID.
type bench struct {
	*Engine
	t       testing.TB
	dev     *fakeDevice
	cq      *fakeCQ
	waiters map[uint64]*Waiter // guarded by the engine's lock
}

func newBench(t testing.TB, c Config) *bench {
	t.Helper()
	c.Channels = onChannels
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	b := &bench{Engine: e, t: t, dev: newFakeDevice(t), waiters: map[uint64]*Waiter{}}
	b.cq = b.dev.newCQ()
	e.Lock()
	e.AddRecv(b.cq, false, b.done)
	e.Unlock()
	if err := e.AddDevice(b.dev); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) done(c *verbs.Completion) {
	if w := b.waiters[c.ID]; w != nil {
		b.Done(w)
	}
}

// waiting is a goroutine in Wait.
type waiting struct {
	w    *Waiter
	done chan struct{} // closed when Wait has returned
	err  error
}

// wait starts a goroutine that waits for n completions of an ID.
func (b *bench) wait(ctx context.Context, id uint64, n int) *waiting {
	g := &waiting{w: &Waiter{Left: n}, done: make(chan struct{})}
	b.Lock()
	b.waiters[id] = g.w
	b.Unlock()
	go func() {
		b.Lock()
		defer b.Unlock()
		g.err = b.Wait(ctx, g.w)
		close(g.done) // with the lock held: who gets it next sees that Wait has returned
	}()
	return g
}

func (g *waiting) returned() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

const limit = 20 * time.Second

// until polls, with a bound, for what other goroutines bring about. The lock is
// held while cond runs.
func (b *bench) until(what string, cond func() bool) {
	b.t.Helper()
	end := time.Now().Add(limit)
	for {
		b.Lock()
		ok := cond()
		b.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("still waiting for %s: %+v", what, b.count)
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func (b *bench) ends(g *waiting, what string) {
	b.t.Helper()
	select {
	case <-g.done:
	case <-time.After(limit):
		b.t.Fatalf("%s does not return from Wait: %+v", what, b.count)
	}
}

// sleeping waits until the driver sleeps.
func (b *bench) sleeping() {
	b.t.Helper()
	b.until("the driver to sleep", func() bool { return b.asleep && b.cq.armedFor() == verbs.Any })
}

func completion(id uint64) verbs.Completion { return verbs.Completion{ID: id, Op: verbs.OpRecv} }

func solicited(id uint64) verbs.Completion {
	return verbs.Completion{ID: id, Op: verbs.OpRecv, Flags: verbs.FlagSolicited}
}
