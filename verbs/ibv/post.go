//go:build ibv && cgo && linux

package ibv

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/verbena-mpi/verbena/verbs"
)

// PostSend hands the adapter a batch for each crossing.
func (q *queuePair) PostSend(wrs []verbs.SendWR) (n int, err error) {
	if st := state(q.state.Load()); st != open {
		return 0, q.notOpen(st, len(wrs))
	}
	for n < len(wrs) {
		k, why := q.fill(wrs[n:])
		m := 0
		if k > 0 {
			q.scq.beforeReads(wrs[n : n+k])
			m, err = postSend(q.h, q.out[:k])
		}
		q.account(wrs[n : n+m])
		n += m
		if err != nil {
			return n, postError(err)
		}
		if why != nil {
			return n, why
		}
	}
	return n, nil
}

func (q *queuePair) notOpen(st state, n int) error {
	switch st {
	case named:
		q.dial()
		fallthrough
	case dialing, half:
		if n == 0 {
			return nil
		}
		return verbs.ErrFull
	case closed:
		return verbs.ErrClosed
	default:
		return verbs.ErrState
	}
}

func postError(err error) error {
	switch {
	case errors.Is(err, syscall.ENOMEM):
		return verbs.ErrFull
	default:
		return fmt.Errorf("%w: %w", verbs.ErrState, err)
	}
}

// fill writes the first requests of wrs to q.out, at most a batch, and says why it
// stopped before their end: the queue is full, or the next one is wrong.
func (q *queuePair) fill(wrs []verbs.SendWR) (n int, why error) {
	room := q.depth - int(q.tail-q.head)
	quiet := q.quiet
	for i := range wrs {
		switch {
		case n == batch:
			return n, nil
		case n == room:
			return n, verbs.ErrFull
		}
		w, o := &wrs[i], &q.out[n]
		seq := q.tail + uint32(n)
		*o = sendWR{wr_id: cu64(uint64(q.index)<<indexShift | uint64(seq))}
		if err := q.request(w, o, seq); err != nil {
			return n, err
		}
		// One in half a queue completes, or a full queue would never have
		// room again.
		if quiet++; w.Flags&verbs.Signaled != 0 || quiet*2 >= q.depth {
			o.flags |= sendSignaled
			quiet = 0
		}
		n++
	}
	return n, nil
}

func (q *queuePair) request(w *verbs.SendWR, o *sendWR, seq uint32) error {
	if w.Flags&verbs.FlagSolicited != 0 {
		o.flags |= sendSolicited
	}
	switch w.Op {
	case verbs.OpSend:
		return q.send(w, o, seq)
	case verbs.OpRead:
		if int64(len(w.Data)) > q.dev.attr.MaxRead {
			return verbs.ErrTooLong
		}
		if len(w.Hdr) > 0 {
			return fmt.Errorf("%w: read with a header", verbs.ErrInvalid)
		}
		o.opcode, o.remote, o.rkey = opRead, cu64(w.Remote.Addr), cu32(uint32(w.Remote.Key))
		return q.gather(o, 1, w.Data, true)
	default:
		return fmt.Errorf("%w: %v posted", verbs.ErrInvalid, w.Op)
	}
}

func (q *queuePair) send(w *verbs.SendWR, o *sendWR, seq uint32) error {
	o.opcode = opSend
	if w.Flags&verbs.WithImm != 0 {
		o.opcode, o.imm = opSendImm, cu32(w.Imm)
	}
	n := len(w.Hdr) + len(w.Data)
	if n > q.longest {
		return verbs.ErrTooLong
	}
	if w.Flags&verbs.Inline != 0 {
		if n > q.inline {
			return verbs.ErrInline
		}
		o.flags |= sendInline
		o.addr[0], o.len[0] = cu64(addrOf(w.Hdr)), cu32(uint32(len(w.Hdr)))
		o.addr[1], o.len[1] = cu64(addrOf(w.Data)), cu32(uint32(len(w.Data)))
		return nil
	}
	hdr, err := q.header(w.Hdr, seq)
	if err != nil {
		return err
	}
	if err := q.gather(o, 0, hdr, false); err != nil {
		return err
	}
	return q.gather(o, 1, w.Data, false)
}

// gather names mem, which must be registered, as part i of a request.
func (q *queuePair) gather(o *sendWR, i int, mem []byte, write bool) error {
	if len(mem) == 0 {
		return nil
	}
	key, ok := q.dev.localKey(mem, write)
	if !ok {
		return fmt.Errorf("%w: memory that isn't registered", verbs.ErrInvalid)
	}
	o.addr[i], o.len[i], o.lkey[i] = cu64(addrOf(mem)), cu32(uint32(len(mem))), cu32(key)
	return nil
}

// header copies a short header to registered memory; a longer one must be there.
func (q *queuePair) header(hdr []byte, seq uint32) ([]byte, error) {
	if len(hdr) == 0 || len(hdr) > hdrSize {
		return hdr, nil
	}
	if q.hdrs == nil {
		r, err := q.dev.register(make([]byte, hdrSize*len(q.ring)), 0)
		if err != nil {
			return nil, err
		}
		q.hdrs = r
	}
	at := int(seq) & (len(q.ring) - 1) * hdrSize
	return q.hdrs.mem[at : at+copy(q.hdrs.mem[at:at+hdrSize], hdr)], nil
}

// account remembers what the adapter took.
func (q *queuePair) account(wrs []verbs.SendWR) {
	for i := range wrs {
		w := &wrs[i]
		q.ring[q.tail&uint32(len(q.ring)-1)] = sent{w.ID, w.Op, w.Flags}
		q.tail++
		if w.Op == verbs.OpRead {
			q.scq.reads++
		}
		if q.out[i].flags&sendSignaled != 0 {
			q.quiet = 0
		} else {
			q.quiet++
		}
	}
}

// sent takes the completion of request seq, which ends all before it, and writes
// it to c; false when nobody asked for it.
func (q *queuePair) sent(seq uint32, status uint8, c *verbs.Completion) bool {
	for q.head != seq+1 {
		if q.ring[q.head&uint32(len(q.ring)-1)].op == verbs.OpRead {
			q.scq.reads--
		}
		q.head++
	}
	r := &q.ring[seq&uint32(len(q.ring)-1)]
	s := statusOf(r.op, status)
	if s != verbs.StatusOK && s != verbs.StatusFlushed {
		q.fail(s, true)
	}
	if s == verbs.StatusOK && r.flags&verbs.Signaled == 0 {
		return false
	}
	*c = verbs.Completion{ID: r.id, QP: q.num, Slot: verbs.NoSlot, Op: r.op, Status: s}
	return true
}
