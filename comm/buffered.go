package comm

import (
	"context"
	"fmt"
	"slices"

	"github.com/verbena-mpi/verbena/progress"
)

// A send in Buffered mode is over when it returns. What doesn't leave by then is
// copied, and sent from the copy by a request that nobody waits for. The memory is
// the world's, up to a limit (Config.BufferLimit): a program attaches no buffer.

// buffers are the messages of buffered sends that have not left. Guarded by the
// engine's lock.
type buffers struct {
	held    []*buffer
	used    int // bytes, of messages and records
	spare   *buffer
	failed  error      // the first message that was lost, until somebody is told
	flushes []*request // that wait until none is held
}

// buffer is one message that has not left. Buffers are pooled.
type buffer struct {
	world *World
	send  *request
	mem   *scratch
	left  progress.Waiter // calls end
	at    int             // in held
	next  *buffer
}

// sendBuffered is a send in Buffered mode. The arguments have been checked; the error
// is the cause alone. The lock is held.
func (w *World) sendBuffered(c *Comm, op string, b []byte, peer, tag int, o options) error {
	p := c.peers[peer]
	small := len(b) <= w.limit
	if p.open != nil && small && !w.closed && p.open.Send(c.context, int32(tag), b) {
		return nil
	}
	r := w.getInner(c, op, peer, tag, b)
	if p.ep == nil && small { // it is copied where it arrives
		w.startSend(r, p, c.context, o)
		err := r.err
		w.putInner(r)
		return err
	}
	if err := w.makeRoom(len(b)); err != nil {
		w.putInner(r)
		return err
	}
	m := w.hold(r)
	w.startSend(r, p, c.context, o)
	if !r.done {
		r.on, m.left.Left = &m.left, 1
		return nil
	}
	err := r.err
	w.release(m, err == nil)
	return err
}

// heldSize is about what a message that is held takes besides its bytes.
const heldSize = 256

// makeRoom says whether a message of n bytes can be held, after what has left in
// the meantime was let go.
func (w *World) makeRoom(n int) error {
	limit := w.settings.Buffer.value
	fits := func() bool { return n+heldSize <= limit-w.buffers.used }
	if fits() || !w.closed && w.eng.Poll() > 0 && fits() {
		return nil
	}
	return fmt.Errorf("%w: %d messages that have not left use %d of %d bytes (VERBENA_BUFFER_LIMIT)",
		ErrBuffer, len(w.buffers.held), w.buffers.used, limit)
}

// hold copies the message of a send, which sends the copy.
func (w *World) hold(r *request) *buffer {
	h := &w.buffers
	m := h.spare
	if m == nil {
		m = &buffer{world: w}
		m.left.Then(m.end)
	} else {
		h.spare = m.next
	}
	m.send, m.mem, m.at = r, w.scratch(len(r.buf)), len(h.held)
	copy(m.mem.b, r.buf)
	r.buf = m.mem.b
	h.held = append(h.held, m)
	h.used += len(r.buf) + heldSize
	return m
}

// end takes the end of a send that nobody waits for.
func (m *buffer) end() {
	h := &m.world.buffers
	_, err := m.send.result()
	if err != nil && h.failed == nil {
		h.failed = err
	}
	m.world.release(m, err == nil)
	if len(h.held) == 0 {
		for _, r := range h.flushes {
			r.complete(nil)
		}
	}
}

// release lets a message go, and its memory if no device may have it any more.
func (w *World) release(m *buffer, free bool) {
	h := &w.buffers
	h.used -= len(m.mem.b) + heldSize
	last := len(h.held) - 1
	h.held[m.at] = h.held[last]
	h.held[m.at].at = m.at
	h.held[last] = nil
	h.held = h.held[:last]
	if free {
		w.drop(m.mem)
	}
	w.putInner(m.send)
	m.send, m.mem = nil, nil
	m.next = h.spare
	h.spare = m
}

// refuseBuffered ends the buffered sends to a peer that will not receive them, as
// far as they can be taken back.
func (w *World) refuseBuffered(p *peer, why error) {
	for _, m := range slices.Clone(w.buffers.held) {
		if m.send.to == p && w.withdrawSend(m.send, why) {
			m.send.complete(why)
		}
	}
}

// Flush waits until the messages of all sends in Buffered mode have left this rank:
// their memory is free then. If some were lost, because their receivers are gone, it
// returns the first one's error, once. It is what MPI's Buffer_flush and
// Buffer_detach do.
//
// If ctx ends first, the error is the context's, and says how many are left. It may
// be called concurrently.
func (w *World) Flush(ctx context.Context) error {
	w.eng.Lock()
	defer w.eng.Unlock()
	return w.flush(ctx, "Flush")
}

func (w *World) flush(ctx context.Context, op string) error {
	h := &w.buffers
	if len(h.held) > 0 {
		r := w.getInner(w.all, op, noPeer, 0, nil)
		h.flushes = append(h.flushes, r)
		err := r.wait(ctx)
		h.flushes = slices.DeleteFunc(h.flushes, func(o *request) bool { return o == r })
		w.putInner(r)
		if err != nil {
			return w.fail(op, fmt.Errorf("%d messages of buffered sends, %d bytes, have not left: %w", len(h.held), h.used, err))
		}
	}
	err := h.failed
	h.failed = nil
	return err
}
