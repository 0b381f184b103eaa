package verbstest

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/verbena-mpi/verbena/verbs"
)

// readTag marks the IDs of reads; the ID of a send is its index in the plan.
const readTag = 1 << 40

// end is one queue pair with its plan of messages. Every test checks by it
// that each message arrives once, whole and in order, and that each signaled
// request completes once and in order.
type end struct {
	side  *side
	peer  *end
	qp    verbs.QP
	rq    verbs.RQ
	label uint32
	seed  uint64

	// The sending half. With two goroutines, out is planned before they start.
	out     []spec
	posted  int  // of out, taken by the queue pair
	covered int  // of out, known to be complete
	auto    bool // each turn posts what is planned
	manual  bool // plan doesn't add signals of its own
	slab    []byte
	stride  int
	wrs     []verbs.SendWR // built and not posted yet: of out, from posted on
	fulls   int            // ErrFull answers
	lastErr error

	reads   map[uint64]verbs.Status // finished
	open    int                     // reads in flight
	aborted map[uint64]bool
	order   []uint64 // IDs of all completions, as they came

	// The receiving half.
	received int
	hold     bool // received slots stay taken
	isClosed bool
	closed   verbs.Status

	tolerant bool // failing requests are expected
	failed   []verbs.Completion
}

// slabDepth is how many messages a slab has room for, in queue depths.
const slabDepth = 4

func (e *end) String() string {
	if e.qp == nil {
		return "nobody"
	}
	return fmt.Sprintf("%s(qp %d)", e.side.name, e.qp.Num())
}

func (e *end) seedOf(i int) uint64 { return mix(e.seed, uint64(i)) }

// plan adds messages to what is to be sent. Every so often it makes one
// signaled, since a queue of unsignaled requests may stay full forever.
func (e *end) plan(specs ...spec) {
	for _, s := range specs {
		if every := max(e.side.shape.depth/2, 1); !e.manual && len(e.out)%every == every-1 {
			s.flags |= verbs.Signaled
		}
		e.out = append(e.out, s)
	}
}

// memory is where message i is built: it comes round again only after the
// message that was built there is complete.
func (e *end) memory(i int) []byte {
	n := slabDepth * e.side.shape.depth
	at := i % n * e.stride
	return e.slab[at : at+e.side.shape.slotSize]
}

// request builds message i.
func (e *end) request(i int) verbs.SendWR {
	s := e.out[i]
	mem := e.memory(i)[:s.size()]
	fill(mem, e.seedOf(i))
	wr := verbs.SendWR{ID: uint64(i), Op: verbs.OpSend, Flags: s.flags, Imm: s.imm}
	if s.hdr > 0 {
		wr.Hdr = mem[:s.hdr:s.hdr]
	}
	if s.data > 0 {
		wr.Data = mem[s.hdr:]
	}
	return wr
}

// post posts planned messages, at most up to the given index, until the queue
// is full. Inline memory is spoiled as soon as PostSend returns. What a full
// queue has refused stays as it is, and is posted again.
func (e *end) post(upTo int) error {
	const batch = 8
	upTo = min(upTo, len(e.out))
	for e.posted < upTo {
		for i := e.posted + len(e.wrs); i < min(len(e.out), e.posted+batch) && i-e.covered < slabDepth*e.side.shape.depth; i++ {
			e.wrs = append(e.wrs, e.request(i))
		}
		wrs := e.wrs[:min(len(e.wrs), upTo-e.posted)]
		if len(wrs) == 0 {
			return nil
		}
		n, err := e.postWRs(wrs)
		for i := range wrs[:n] {
			if wr := &wrs[i]; wr.Flags&verbs.Inline != 0 {
				scribble(wr.Hdr)
				scribble(wr.Data)
			}
		}
		e.posted += n
		e.wrs = append(e.wrs[:0], e.wrs[n:]...)
		if errors.Is(err, verbs.ErrFull) || err != nil && e.tolerant {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%v: PostSend at message %d: %w", e, e.posted, err)
		}
	}
	return nil
}

// postWRs is PostSend with checks of what it says.
func (e *end) postWRs(wrs []verbs.SendWR) (int, error) {
	before := append([]verbs.SendWR(nil), wrs...)
	n, err := e.qp.PostSend(wrs)
	e.lastErr = err
	if n < 0 || n > len(wrs) || (n < len(wrs)) != (err != nil) && len(wrs) > 0 {
		return 0, fmt.Errorf("PostSend of %d requests returned %d, %w", len(wrs), n, err)
	}
	if errors.Is(err, verbs.ErrFull) {
		e.fulls++
	}
	if !reflect.DeepEqual(before, wrs) {
		return n, fmt.Errorf("PostSend changed the requests")
	}
	return n, err
}

// file takes a completion of this queue pair.
func (e *end) file(c *verbs.Completion) error {
	switch c.Op {
	case verbs.OpSend:
		return e.fileSend(c)
	case verbs.OpRead:
		return e.fileRead(c)
	case verbs.OpRecv:
		return e.fileRecv(c)
	case verbs.OpClosed:
		if e.isClosed {
			return fmt.Errorf("a second OpClosed, %v", c.Status)
		}
		e.isClosed, e.closed = true, c.Status
		if c.Status == verbs.StatusOK {
			return errors.New("OpClosed with StatusOK")
		}
		if !e.tolerant {
			return fmt.Errorf("closed: %v", c.Status)
		}
		return nil
	}
	return fmt.Errorf("unknown completion %+v", *c)
}

func (e *end) fileSend(c *verbs.Completion) error {
	e.order = append(e.order, c.ID)
	if c.ID >= uint64(e.posted) {
		return fmt.Errorf("completion of a send that was not posted: %+v", *c)
	}
	id := int(c.ID)
	if id < e.covered {
		return fmt.Errorf("send %d completed twice or out of order: %d are already complete", id, e.covered)
	}
	for i := e.covered; i < id; i++ {
		if e.out[i].flags&verbs.Signaled != 0 {
			return fmt.Errorf("send %d completed before send %d, or that completion is lost", id, i)
		}
	}
	if c.Status == verbs.StatusOK {
		if e.out[id].flags&verbs.Signaled == 0 {
			return fmt.Errorf("send %d is not signaled and completed with success", id)
		}
		if len(e.failed) > 0 {
			return fmt.Errorf("send %d succeeded after an earlier one had failed", id)
		}
	} else {
		if !e.tolerant {
			return fmt.Errorf("send %d failed: %v", id, c.Status)
		}
		e.failed = append(e.failed, *c)
	}
	e.covered = id + 1
	return nil
}

func (e *end) fileRead(c *verbs.Completion) error {
	e.order = append(e.order, c.ID)
	if _, ok := e.reads[c.ID]; ok {
		return fmt.Errorf("read %#x completed twice", c.ID)
	}
	if c.Status != verbs.StatusOK && !e.tolerant && !(c.Status == verbs.StatusAborted && e.aborted[c.ID]) {
		return fmt.Errorf("read %#x failed: %v", c.ID, c.Status)
	}
	if e.open == 0 {
		return fmt.Errorf("completion of a read that was not posted: %+v", *c)
	}
	e.open--
	e.reads[c.ID] = c.Status
	return nil
}

// abort asks for the early end of a read.
func (e *end) abort(id uint64) {
	if e.aborted == nil {
		e.aborted = make(map[uint64]bool)
	}
	e.aborted[id] = true
	e.qp.Abort(id)
}
