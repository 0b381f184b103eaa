//go:build linux

package tcp

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/verbena-mpi/verbena/verbs"
)

// cq is a completion queue. Messages are mostly not stored: Poll takes them from the
// receive buffers.
type cq struct {
	dev   *Device
	depth int

	done []verbs.Completion // what was put and not yet polled, from head on
	head int
	held int // completions of requests to come
	// count is len(done)-head. It changes under the caller's lock; Pending loads it
	// without that lock.
	count atomic.Int32

	lent  []*conn // whose buffers have views that Poll gave out
	armed verbs.Event
	sink  sink
}

// sink is where a poll puts messages: into the caller's slice, if they are of the
// queue that is polled.
type sink struct {
	cq  *cq
	out []verbs.Completion
	n   int
}

// storedMost is how many completions are stored, at most, for a queue while another
// one is polled.
const storedMost = 1024

// room says whether a message of the queue pair can be given.
func (s *sink) room(q *qp) bool {
	if q.recvCQ == s.cq {
		return s.n < len(s.out)
	}
	return q.recvCQ.count.Load() < storedMost
}

// give gives a message, for which there is room.
func (s *sink) give(q *qp, c *verbs.Completion, solicited bool) {
	if q.recvCQ == s.cq {
		s.out[s.n] = *c
		s.n++
		return
	}
	q.recvCQ.push(*c, solicited)
}

// NewCQ implements verbs.Device.
func (d *Device) NewCQ(depth int) (verbs.CQ, error) {
	if d.closed || d.dead {
		return nil, verbs.ErrClosed
	}
	if depth < 1 || depth > 1<<20 {
		return nil, fmt.Errorf("%w: tcp: completion queue of depth %d", verbs.ErrInvalid, depth)
	}
	c := &cq{dev: d, depth: depth}
	d.cqs = append(d.cqs, c)
	return c, nil
}

// push stores a completion.
func (c *cq) push(v verbs.Completion, solicited bool) {
	if c.head > 0 && len(c.done) == cap(c.done) {
		n := copy(c.done, c.done[c.head:])
		clear(c.done[n:])
		c.done, c.head = c.done[:n], 0
	}
	c.done = append(c.done, v)
	c.count.Add(1)
	if c.armed == verbs.Any || c.armed == verbs.Solicited && (solicited || v.Status != verbs.StatusOK) {
		c.dev.poll.ring()
	}
}

func (c *cq) full() bool { return int(c.count.Load())+c.held >= c.depth }

// Poll implements verbs.CQ.
func (c *cq) Poll(out []verbs.Completion) int {
	d := c.dev
	if d.closed || len(out) == 0 {
		return c.takeDone(out)
	}
	d.turn++
	if len(c.lent) != 0 && c.count.Load() == 0 {
		c.endViews()
	}
	if d.attention.Load() {
		d.attend()
	}
	s := &c.sink
	s.cq, s.out, s.n = c, out, 0
	if c.count.Load() != 0 {
		s.n = c.takeDone(out)
	}
	d.move(s)
	n := s.n
	s.out = nil
	if c.count.Load() != 0 && n < len(out) {
		n += c.takeDone(out[n:])
	}
	return n
}

func (c *cq) takeDone(out []verbs.Completion) int {
	n := copy(out, c.done[c.head:])
	clear(c.done[c.head : c.head+n])
	c.head += n
	c.count.Add(int32(-n))
	if c.head == len(c.done) {
		c.done, c.head = c.done[:0], 0
	}
	return n
}

// lend notes that the connection's buffer has a view that this queue gives out.
func (c *cq) lend(o *conn) {
	if !o.in.lent {
		o.in.lent = true
		c.lent = append(c.lent, o)
	}
}

// endViews ends the views that were given out before. None is stored.
func (c *cq) endViews() {
	for i, o := range c.lent {
		o.in.lent = false
		o.quiet()
		c.lent[i] = nil
	}
	c.lent = c.lent[:0]
}

// forget drops the messages of a queue pair that is closed, and gives their slots
// back.
func (c *cq) forget(q *qp) {
	rest := slices.DeleteFunc(c.done[c.head:], func(v verbs.Completion) bool {
		mine := v.QP == q.num && v.Op != verbs.OpSend && v.Op != verbs.OpRead
		if mine && v.Slot != verbs.NoSlot {
			q.rq.Repost([]verbs.Slot{v.Slot})
		}
		return mine
	})
	c.done = c.done[:c.head+len(rest)]
	c.count.Store(int32(len(rest)))
}

// Pending implements verbs.CQ. Where nothing is known to be there it makes one system
// call.
func (c *cq) Pending() bool {
	d := c.dev
	return c.count.Load() != 0 || d.attention.Load() || d.busy.Load() || d.writing.waiting.Load() != 0 || d.glimpse()
}

// Arm implements verbs.CQ. Whatever comes over a socket wakes a queue that is armed
// for solicited events too: what it is can't be known without reading it.
func (c *cq) Arm(ev verbs.Event) (again bool) {
	d := c.dev
	if d.closed {
		return false
	}
	c.armed = ev
	d.hot.wide() // what has woken the owner may be any
	d.poll.silence()
	d.poll.show(slices.ContainsFunc(d.cqs, func(o *cq) bool { return o.armed != verbs.None }))
	if ev == verbs.None {
		return false
	}
	// From here on the sockets and the bell tell. All queues are looked at, since the
	// bell was silenced perhaps for another one.
	for _, o := range d.cqs {
		again = again || o.armed != verbs.None && o.count.Load() != 0
	}
	return again || d.attention.Load() || d.busy.Load() || d.writing.waiting.Load() != 0 || d.hot.fresh()
}

// Close implements verbs.CQ.
func (c *cq) Close() error {
	d := c.dev
	for _, q := range d.qps {
		if q.sendCQ == c || q.recvCQ == c {
			return fmt.Errorf("%w: tcp: queue pair %d uses this completion queue", verbs.ErrInvalid, q.num)
		}
	}
	_ = c.Arm(verbs.None)
	d.cqs = slices.DeleteFunc(d.cqs, func(o *cq) bool { return o == c })
	return nil
}

// move moves the device along, and gives the messages that have come.
func (d *Device) move(s *sink) {
	w := &d.writing
	if w.waiting.Load() != 0 {
		w.mu.Lock()
		w.flush()
		w.mu.Unlock()
	}
	before := s.n
	d.lookAgain(s)
	if (s.n == before || d.skipped >= passOver) && d.turnOf(s.cq) {
		d.skipped = 0
		d.lookAtSockets(s)
	}
	if len(d.serving) != 0 {
		d.serve()
	}
	if len(d.owing) != 0 {
		d.retire()
	}
	if busy := len(d.ready) != 0 || len(d.serving) != 0 && d.canServe(); busy != d.busy.Load() {
		d.busy.Store(busy)
	}
}

// passOver is after how many polls, that had enough in what was received before, the sockets are
// looked at nevertheless. A session that always has more would leave no turn to others.
const passOver = 4

// turnOf says whether a poll of the queue looks at the sockets. Where several queues
// are polled in turn, one does.
func (d *Device) turnOf(c *cq) bool {
	if d.looker != c && !d.passed {
		d.passed = true
		return false
	}
	d.looker, d.passed = c, false
	return true
}

// lookAgain takes what was received before.
func (d *Device) lookAgain(s *sink) {
	for _, c := range d.hot.conns[:d.hot.n] {
		if c != nil && c.in.fresh {
			c.in.fresh = false
			d.hot.seen(d, c)
			c.parse(s)
		}
	}
	if len(d.ready) == 0 {
		return
	}
	d.skipped++
	list := d.ready
	d.ready, d.spare = d.spare[:0], list
	for i := range list {
		// The second is the first next time: none takes all the room each time.
		k := i + 1
		if k == len(list) {
			k = 0
		}
		c := list[k]
		list[k] = nil
		c.in.ready = false
		if c.gone() {
			continue
		}
		c.parse(s)
		if c.link.tls != nil && !c.gone() {
			c.receive(s)
		}
	}
}

// lookAtSockets reads from the sockets that are ready.
func (d *Device) lookAtSockets(s *sink) {
	d.hot.looks++
	if d.hot.usable(d) {
		for _, c := range d.hot.conns[:d.hot.n] {
			if c != nil && c.receive(s) {
				d.hot.seen(d, c)
			}
		}
		return
	}
	d.count.waits++
	events := d.poll.events[:epollLook(d.poll.inner, d.poll.events[:])]
	for i := range events {
		ev := &events[i]
		if ev.Fd == bellIndex {
			d.attention.Store(true)
			continue
		}
		c := d.poll.at(ev)
		if c == nil {
			continue
		}
		if ev.Events&epollOut != 0 && c.out.blocked {
			c.writable()
		}
		if c.stage == stageLeaving {
			c.dismiss()
			continue
		}
		if ev.Events&^epollOut != 0 {
			if c.receive(s) {
				d.hot.seen(d, c)
			}
			c.quiet()
		}
	}
}

// retire completes what can be completed.
func (d *Device) retire() {
	kept := d.owing[:0]
	for _, q := range d.owing {
		q.retireNow()
		if q.owing = q.ring.len() > 0; q.owing {
			kept = append(kept, q)
		}
	}
	clear(d.owing[len(kept):])
	d.owing = kept
}
