//go:build linux

package tcp

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// outbox is the sending half of a connection. It is guarded by writing.mu. What it
// has leaves in this order: the rest of a part of a read, what was queued, and only
// then one more part.
type outbox struct {
	buf  []byte // frames that were copied; those before head have left
	head int

	// How many bytes of copied frames were queued, and have left, in all.
	queued, left uint64

	part part
	hdr  [headerSize]byte // scratch

	asked   uint32 // of the kernel
	blocked bool   // the socket has no room; EPOLLOUT is asked for
	dirty   bool   // in the device's list of those that have something to leave soon
	last    bool   // the goodbye is queued
	err     error  // of the socket: nothing leaves any more

	turn uint64 // of the device, at the last write
	at   time.Duration
}

// part is what is missing of a frame of a read. Its bytes are those of registered
// memory.
type part struct {
	hdr    []byte // in store
	mem    []byte
	pad    []byte
	region *region // nil: mem is a copy
	store  [headerSize]byte
}

func (p *part) size() int { return len(p.hdr) + len(p.mem) + len(p.pad) }

func (o *outbox) size() int { return len(o.buf) - o.head }

func (o *outbox) empty() bool { return o.size() == 0 && o.part.size() == 0 && !o.blocked }

// put queues a frame without a payload.
func (o *outbox) put(h *header) {
	o.buf = h.append(o.buf)
	o.queued += headerSize
}

// Limits of what is queued, in bytes.
const (
	outMost  = 256 << 10 // more is not taken
	outKept  = 64 << 10  // of the buffer's memory, while nothing is queued
	coalesce = 16 << 10  // leaves at once
)

// writing is what is common to all outboxes.
type writing struct {
	mu    sync.Mutex // guards the outboxes, which the timer's goroutine empties too
	dev   *Device
	dirty []*conn
	vec   vec
	timer *time.Timer
	armed bool // the timer runs
	over  bool
	start time.Time

	blocked int // connections whose socket has no room
	// waiting is len(dirty), and stuck is blocked, for Pending, which takes no lock.
	waiting, stuck atomic.Int32

	calls, messages, coalesced uint64
}

// How long what was queued may wait: for another post to come along, and for a poll.
const (
	coalesceFor = 20 * time.Microsecond
	lateAfter   = 200 * time.Microsecond
	// goodbyeAfter is how often a goodbye is tried for which there is no room.
	goodbyeAfter = 5 * time.Millisecond
)

func (w *writing) init(d *Device) {
	w.dev, w.start = d, time.Now()
	w.timer = time.AfterFunc(time.Hour, w.late)
	w.timer.Stop()
}

func (w *writing) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}

// late writes what nobody's poll has written.
func (w *writing) late() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = false
	if w.over || len(w.dirty) == 0 {
		return
	}
	list := slices.Clone(w.dirty)
	w.flush()
	for _, c := range list {
		if c.out.last { // nobody has to poll in order to say goodbye
			w.unblock(c)
			w.soon(c)
			w.timer.Reset(goodbyeAfter)
		}
	}
	w.dev.wake() // requests may be complete
}

// flush writes what the dirty outboxes have.
func (w *writing) flush() {
	for i, c := range w.dirty {
		c.out.dirty = false
		c.farewell()
		w.dirty[i] = nil
	}
	w.dirty = w.dirty[:0]
	w.waiting.Store(0)
}

// soon has the connection's outbox written by the next poll, or, if there is none, a
// little later.
func (w *writing) soon(c *conn) {
	if c.out.dirty || c.out.blocked {
		return
	}
	c.out.dirty = true
	w.dirty = append(w.dirty, c)
	w.waiting.Store(int32(len(w.dirty)))
	if !w.armed {
		w.armed = true
		w.timer.Reset(lateAfter)
	}
}

// drop forgets a connection that is being closed.
func (w *writing) drop(c *conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, o := range w.dirty {
		if o == c {
			w.dirty = append(w.dirty[:i], w.dirty[i+1:]...)
			break
		}
	}
	w.waiting.Store(int32(len(w.dirty)))
	w.unblock(c)
	w.release(c)
	c.out.err = unix.EBADF
}

// release forgets the part that is under way.
func (w *writing) release(c *conn) {
	if r := c.out.part.region; r != nil {
		r.uses--
	}
	c.out.part = part{}
}

func (w *writing) unblock(c *conn) {
	if c.out.blocked {
		c.out.blocked = false
		w.blocked--
		w.stuck.Store(int32(w.blocked))
	}
}

// ask asks the kernel for events of the connection.
func (c *conn) ask(events uint32) error {
	err := c.dev.poll.watch(c, c.out.asked, events)
	if err == nil {
		c.out.asked = events
	}
	return err
}

// block waits for room in the socket.
func (c *conn) block() {
	w := &c.dev.writing
	if c.out.blocked {
		return
	}
	c.out.blocked = true
	w.blocked++
	w.stuck.Store(int32(w.blocked))
	c.wrote(c.ask(c.out.asked | epollOut))
}

// writable takes the kernel's word that there is room.
func (c *conn) writable() {
	w := &c.dev.writing
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unblock(c)
	_ = c.ask(c.out.asked &^ epollOut)
	c.flush()
}
