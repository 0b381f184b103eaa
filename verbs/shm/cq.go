//go:build linux

package shm

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/verbena-mpi/verbena/verbs"
)

// ringBudget is how many messages one ring gives per Poll before the next one
// has its turn.
const ringBudget = 16

// stallPolls is how many polls pass between looks at the clock while reads are
// being streamed.
const stallPolls = 64

// cq is a completion queue. Completions of messages are not stored: Poll takes
// them from the rings.
type cq struct {
	dev   *Device
	depth int

	done []verbs.Completion // what was put and not yet polled, from head on
	head int
	held int // completions to come, for which done must have room
	// count is len(done)-head. Poll's goroutine and posters (under the
	// caller's lock) change it; Pending loads it without that lock.
	count atomic.Int32

	// active are the connected queue pairs that receive here. It is replaced,
	// under the caller's lock, when one comes or goes; Poll reorders it. Pending
	// loads it without that lock.
	active atomic.Pointer[[]*qp]
	next   int // where the next Poll begins
	armed  verbs.Event
}

// NewCQ implements verbs.Device.
func (d *Device) NewCQ(depth int) (verbs.CQ, error) {
	if d.closed {
		return nil, verbs.ErrClosed
	}
	if depth < 1 || depth > 1<<20 {
		return nil, fmt.Errorf("%w: shm: completion queue of depth %d", verbs.ErrInvalid, depth)
	}
	c := &cq{dev: d, depth: depth, done: make([]verbs.Completion, 0, min(depth, 256))}
	c.active.Store(new([]*qp))
	d.cqs = append(d.cqs, c)
	return c, nil
}

func (c *cq) put(v verbs.Completion) {
	c.done = append(c.done, v)
	c.count.Add(1)
}

// add and drop change who receives here.
func (c *cq) add(q *qp) {
	list := append(slices.Clone(*c.active.Load()), q)
	c.active.Store(&list)
}

func (c *cq) drop(q *qp) {
	list := slices.DeleteFunc(slices.Clone(*c.active.Load()), func(o *qp) bool { return o == q })
	c.active.Store(&list)
}

func (c *cq) full() bool { return len(c.done)-c.head+c.held >= c.depth }

// Poll implements verbs.CQ.
func (c *cq) Poll(out []verbs.Completion) int {
	d := c.dev
	if d.attention.Load() {
		d.attend()
	}
	var n int
	if active := *c.active.Load(); len(active) == 1 {
		n = active[0].take(out)
	} else {
		n = c.takeInTurn(active, out)
	}
	if d.work.Load() != 0 || len(d.serves) != 0 {
		d.advance()
	}
	if d.streaming != 0 {
		if d.polls++; d.polls%stallPolls == 0 {
			d.checkStalls()
		}
	}
	if c.count.Load() != 0 {
		n += c.takeDone(out[n:])
	}
	return n
}

func (c *cq) takeInTurn(active []*qp, out []verbs.Completion) int {
	n := 0
	i := c.next
	c.next = 0
	for range active {
		if i >= len(active) {
			i = 0
		}
		if n == len(out) {
			c.next = i
			break
		}
		q := active[i]
		got := q.take(out[n:min(len(out), n+ringBudget)])
		if got != 0 && i > 0 { // busy rings move to the front
			active[i], active[i-1] = active[i-1], q
		}
		n += got
		i++
	}
	return n
}

func (c *cq) takeDone(out []verbs.Completion) int {
	n := copy(out, c.done[c.head:])
	c.head += n
	c.count.Add(int32(-n))
	if c.head == len(c.done) {
		c.done, c.head = c.done[:0], 0
	}
	return n
}

// Pending implements verbs.CQ.
func (c *cq) Pending() bool {
	for _, q := range *c.active.Load() {
		if q.rx.ready() {
			return true
		}
	}
	return c.count.Load() != 0 || c.dev.work.Load() != 0 || c.dev.attention.Load()
}

// Arm implements verbs.CQ.
func (c *cq) Arm(ev verbs.Event) (again bool) {
	d := c.dev
	if d.closed {
		return false
	}
	c.armed = ev
	for _, o := range d.cqs {
		ev = max(ev, o.armed)
	}
	d.bell.arm(ev)
	if c.armed == verbs.None {
		return false
	}
	// From here on what a peer does is answered by the bell; look for what came
	// before. All queues are looked at, not this one alone: there is one bell,
	// and arming it again has cleared a ring that was perhaps another's, after
	// that queue's own look.
	for _, o := range d.cqs {
		if o.armed != verbs.None && o.missed() {
			again = true
		}
	}
	if d.serving() && d.chunksAnnounce() {
		again = true
	}
	// Nothing rings when a peer fails to stream: stay awake until it does, or the
	// read goes on by single copy, which is soon.
	return again || d.attention.Load() || d.movable() || d.mayStall()
}

// missed says whether the queue has something, and tells peers what it waits for.
func (c *cq) missed() bool {
	again := c.count.Load() != 0
	for _, q := range *c.active.Load() {
		// Cells that were polled are given back now: their sender may sleep
		// for want of them.
		if q.rx.pos != q.rx.acked {
			q.release()
		}
		again = again || q.rx.ready()
	}
	for _, q := range c.dev.qps {
		if q.sendCQ == c && q.lack != 0 && q.announce() {
			again = true
		}
	}
	return again
}

// Close implements verbs.CQ.
func (c *cq) Close() error {
	for _, q := range c.dev.qps {
		if q.sendCQ == c || q.recvCQ == c {
			return fmt.Errorf("%w: shm: queue pair %d uses this completion queue", verbs.ErrInvalid, q.num)
		}
	}
	_ = c.Arm(verbs.None)
	for i, o := range c.dev.cqs {
		if o == c {
			c.dev.cqs = append(c.dev.cqs[:i], c.dev.cqs[i+1:]...)
			break
		}
	}
	return nil
}
