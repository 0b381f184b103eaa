//go:build ibv && cgo && linux

package ibv

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// compQueue is a completion queue with an event channel of its own: taking the
// events of a channel that queues share would take other sleepers' too.
type compQueue struct {
	dev   *device
	h     cqHandle
	ch    chanHandle
	need  int // what may be in the queue at once
	fed   []*recvQueue
	reads int  // posted and not polled: their ends wake for Solicited
	used  bool // was armed: events may wait in the channel

	raw   [batch]rawWC // what the last crossing brought; raw[at:n] is to be given
	at, n int

	// armed is stored before the queue is looked at again; those who note
	// something look at it afterwards. So either the sleeper sees the note, or
	// the noter sees the sleeper.
	armed atomic.Uint32
	noted atomic.Bool // notes isn't empty
	room  atomic.Bool // a queue pair that refused sends takes them now

	mu    sync.Mutex
	notes []verbs.Completion // of the connection's goroutines: OpClosed, OpLow
	wake  int                // eventfd; -1: closed
}

func (d *device) NewCQ(depth int) (verbs.CQ, error) {
	switch {
	case d.closed:
		return nil, verbs.ErrClosed
	case depth <= 0:
		return nil, fmt.Errorf("%w: completion queue of depth %d", verbs.ErrInvalid, depth)
	}
	q := &compQueue{dev: d}
	var err error
	if q.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, failed("create eventfd", err)
	}
	if q.h, q.ch, err = d.adapter.newCQ(depth); err != nil {
		unix.Close(q.wake)
		return nil, err
	}
	d.cqs = append(d.cqs, q)
	return q, nil
}

// reserve makes room for n more completions. A queue that overflows is lost, and
// only the queue pairs and receive queues that feed it tell how much it takes.
func (q *compQueue) reserve(n int) error {
	if q.need+n > cqLen(q.h) {
		most := int(q.dev.adapter.caps.max_cqe)
		if q.need+n > most {
			return fmt.Errorf("%w: a completion queue of more than %d", verbs.ErrNoMemory, most)
		}
		if err := resizeCQ(q.h, max(q.need+n, min(2*cqLen(q.h), most))); err != nil {
			return err
		}
	}
	q.need += n
	return nil
}

// feed makes room for all slots of a receive queue, once.
func (q *compQueue) feed(rq *recvQueue) error {
	if slices.Contains(q.fed, rq) {
		return nil
	}
	if err := q.reserve(rq.cfg.Slots); err != nil {
		return err
	}
	q.fed = append(q.fed, rq)
	return nil
}

// Poll gives what the last crossing left, then crosses once, and again only after
// a full batch: a short one says that the adapter's queue was empty. Notes come
// when it was found so after they were written: what a peer sent comes before its
// end.
func (q *compQueue) Poll(c []verbs.Completion) int {
	n, noted, short := 0, false, false
	for n < len(c) {
		if q.at < q.n {
			if q.translate(&q.raw[q.at], &c[n]) {
				n++
			}
			q.at++
			continue
		}
		if short {
			if noted {
				n += q.takeNotes(c[n:])
			}
			q.dev.reapPolled(q)
			break
		}
		noted = q.noted.Load()
		q.fill()
		short = q.n < batch
	}
	return n
}

func (q *compQueue) fill() {
	q.at, q.n = 0, 0
	if q.h != nil {
		q.n = max(poll(q.h, &q.raw), 0)
	}
}

func (q *compQueue) takeNotes(c []verbs.Completion) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := copy(c, q.notes)
	q.notes = append(q.notes[:0], q.notes[n:]...)
	q.noted.Store(len(q.notes) > 0)
	return n
}

// translate writes the completion that w is to c; false when w is nobody's
// business.
func (q *compQueue) translate(w *rawWC, c *verbs.Completion) bool {
	index, low := int(uint64(w.wr_id)>>indexShift&indexMask), uint32(w.wr_id)
	if uint64(w.wr_id)&recvTag == 0 {
		return q.dev.qps[index].sent(low, uint8(w.status), c)
	}
	rq := q.dev.rqs[index]
	if w.status != 0 {
		rq.take(int(low), 0)
		q.dev.badReceive(rq, verbs.Slot(low), uint32(w.qp_num), uint8(w.status))
		return false
	}
	*c = verbs.Completion{
		QP: uint32(w.qp_num), Len: uint32(w.byte_len), Slot: verbs.Slot(low), Op: verbs.OpRecv,
		Data: rq.take(int(low), int(w.byte_len)),
	}
	rq.watch(q)
	if w.flags&wcWithImm != 0 {
		c.Flags, c.Imm = verbs.WithImm, uint32(w.imm)
	}
	if q.dev.half.Load() > 0 {
		q.dev.heardFrom(c.QP)
	}
	return true
}

// Pending looks into the adapter's queue: there is no cheaper way to know.
func (q *compQueue) Pending() bool {
	if q.at == q.n {
		q.fill()
	}
	return q.at < q.n || q.noted.Load()
}

// Arm: an adapter knows solicited receives and errors, but no solicited ends of
// reads; while reads are posted any completion wakes.
func (q *compQueue) Arm(e verbs.Event) (again bool) {
	if q.used {
		takeEvents(q.ch)
		var b [8]byte
		_, _ = unix.Read(q.wake, b[:])
	}
	q.armed.Store(uint32(e))
	if e == verbs.None {
		return false
	}
	if q.h == nil {
		return false
	}
	q.used = true
	armCQ(q.h, e == verbs.Solicited && q.reads == 0)
	return q.Pending() || q.room.Swap(false)
}

// beforeReads keeps a sleeper that waits for solicited events up to date. It comes
// before the post: a completion that is older than the arming wakes nobody.
func (q *compQueue) beforeReads(wrs []verbs.SendWR) {
	if q.reads > 0 || verbs.Event(q.armed.Load()) != verbs.Solicited {
		return
	}
	for i := range wrs {
		if wrs[i].Op == verbs.OpRead {
			armCQ(q.h, false)
			return
		}
	}
}

// note leaves a completion that didn't come from the adapter. The device's
// goroutines call it.
func (q *compQueue) note(c verbs.Completion) {
	q.mu.Lock()
	q.notes = append(q.notes, c)
	q.noted.Store(true)
	q.mu.Unlock()
	q.signal()
}

func (q *compQueue) hasRoom() {
	q.room.Store(true)
	q.signal()
}

func (q *compQueue) signal() {
	if verbs.Event(q.armed.Load()) == verbs.None {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.wake >= 0 {
		var one [8]byte
		binary.NativeEndian.PutUint64(one[:], 1)
		_, _ = unix.Write(q.wake, one[:])
	}
}

// Close fails while queue pairs use the queue.
func (q *compQueue) Close() error {
	q.mu.Lock()
	wake := q.wake
	q.mu.Unlock()
	if wake < 0 {
		return verbs.ErrClosed
	}
	if err := closeCQ(q.h, q.ch); err != nil {
		return err
	}
	q.h, q.used = nil, false
	q.mu.Lock()
	q.wake = -1
	q.mu.Unlock()
	q.dev.dropCQ(q)
	return unix.Close(wake)
}
