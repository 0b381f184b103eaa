package verbstest

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// shape is how a side's queues are made.
type shape struct {
	depth    int // of a queue pair
	inline   int // bytes asked for
	slots    int
	slotSize int
	low      int
	perPeer  bool // a receive queue for each queue pair
}

func (sh shape) withDefaults(a verbs.Attr) shape {
	if sh.depth == 0 {
		sh.depth = 16
	}
	if sh.inline == 0 {
		sh.inline = 64
	}
	if sh.slots == 0 {
		sh.slots = 64
	}
	if sh.slotSize == 0 {
		sh.slotSize = 4096
	}
	if a.MaxSend > 0 {
		sh.slotSize = min(sh.slotSize, a.MaxSend)
	}
	return sh
}

// maxEnds is how many queue pairs the completion queue of a side has room for.
const maxEnds = 16

// side is one device with its queues, and what has come out of them.
type side struct {
	kept     [][]byte // what is registered: a registration doesn't keep it alive
	name     string
	dev      verbs.Device
	attr     verbs.Attr
	shape    shape
	scq, rcq verbs.CQ
	rq       verbs.RQ // the shared one
	ends     []*end

	hold bool // received slots stay taken until release; ends have their own
	idle bool // turns pass it by
	held []*message

	lows  int // OpLow completions
	batch int // completions per Poll
	comps []verbs.Completion
	turns int
	filed int // completions
}

// message is a received message that is held.
type message struct {
	end  *end
	at   int // index in the sender's plan
	slot verbs.Slot
	view []byte
}

func newSide(name string, dev verbs.Device, sh shape) (*side, error) {
	s := &side{name: name, dev: dev, attr: dev.Attr(), batch: 16}
	s.shape = sh.withDefaults(s.attr)
	s.comps = make([]verbs.Completion, 256)
	var err error
	if s.scq, err = dev.NewCQ(s.shape.depth * maxEnds); err != nil {
		return nil, fmt.Errorf("%s: NewCQ: %w", name, err)
	}
	if s.rcq, err = dev.NewCQ(s.shape.depth * maxEnds); err != nil {
		return nil, fmt.Errorf("%s: NewCQ: %w", name, err)
	}
	if !s.shape.perPeer {
		if s.rq, err = s.newRQ(true); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *side) newRQ(shared bool) (verbs.RQ, error) {
	rq, err := s.dev.NewRQ(verbs.RQConfig{Shared: shared, Slots: s.shape.slots, SlotSize: s.shape.slotSize, Low: s.shape.low})
	if err != nil {
		return nil, fmt.Errorf("%s: NewRQ: %w", s.name, err)
	}
	return rq, nil
}

// poll polls both completion queues once, files what they give, and posts
// what the ends have still to send.
func (s *side) poll() error {
	if s.idle {
		return nil
	}
	s.turns++
	if err := s.pollCQ(s.scq); err != nil {
		return err
	}
	if err := s.pollCQ(s.rcq); err != nil {
		return err
	}
	for _, e := range s.ends {
		if e.auto && !e.isClosed {
			if err := e.post(len(e.out)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *side) pollCQ(cq verbs.CQ) error {
	n := cq.Poll(s.comps[:s.batch])
	if n < 0 || n > s.batch {
		return fmt.Errorf("%s: Poll of %d completions gave %d", s.name, s.batch, n)
	}
	for i := range n {
		if err := s.file(&s.comps[i]); err != nil {
			return err
		}
	}
	return nil
}

// file gives a completion to the end that it belongs to.
func (s *side) file(c *verbs.Completion) error {
	s.filed++
	if c.Op == verbs.OpLow {
		s.lows++
		return nil
	}
	for _, e := range s.ends {
		if e.qp.Num() == c.QP {
			if err := e.file(c); err != nil {
				return fmt.Errorf("%v: %w", e, err)
			}
			return nil
		}
	}
	return fmt.Errorf("%s: completion of an unknown queue pair: %+v", s.name, *c)
}

// release checks the held message's view once more and gives its slot back.
func (s *side) release(m *message) error {
	if err := m.check(); err != nil {
		return err
	}
	m.end.rq.Repost([]verbs.Slot{m.slot})
	return nil
}

// releaseAll releases what is held, oldest first.
func (s *side) releaseAll() error {
	for _, m := range s.held {
		if err := s.release(m); err != nil {
			return err
		}
	}
	s.held = s.held[:0]
	return nil
}

// check compares a held view with what was sent.
func (m *message) check() error {
	p := m.end.peer
	if err := differs(m.view, p.seedOf(m.at)); err != nil {
		return fmt.Errorf("%v: the view of message %d changed while its slot was held: %w", m.end, m.at, err)
	}
	return nil
}

// buffer makes memory that the device may read for sends and write for reads.
func (s *side) buffer(n int) ([]byte, verbs.MR, error) {
	mem := make([]byte, n)
	mr, err := s.dev.Register(mem, verbs.AccessLocal)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: Register of %d bytes: %w", s.name, n, err)
	}
	s.kept = append(s.kept, mem)
	return mem, mr, nil
}
