package verbstest

import (
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// fileRecv compares a received message with the next one of the peer's plan.
func (e *end) fileRecv(c *verbs.Completion) error {
	if e.isClosed {
		return errors.New("a message after OpClosed")
	}
	at := e.received
	if at >= len(e.peer.out) {
		return fmt.Errorf("message %d of %d bytes was never sent", at, c.Len)
	}
	if err := e.checkRecv(c, at); err != nil {
		return fmt.Errorf("message %d: %w", at, err)
	}
	e.received++
	if c.Slot == verbs.NoSlot {
		return nil
	}
	if e.side.hold || e.hold {
		e.side.held = append(e.side.held, &message{end: e, at: at, slot: c.Slot, view: c.Data})
		return nil
	}
	e.rq.Repost([]verbs.Slot{c.Slot})
	return nil
}

func (e *end) checkRecv(c *verbs.Completion, at int) error {
	want := e.peer.out[at]
	if c.Status != verbs.StatusOK {
		return fmt.Errorf("status %v", c.Status)
	}
	if int(c.Len) != len(c.Data) {
		return fmt.Errorf("a view of %[2]d bytes, and Len is %[1]d", c.Len, len(c.Data))
	}
	if len(c.Data) != want.size() {
		return fmt.Errorf("%d bytes, want %d (lost, doubled or out of order)", len(c.Data), want.size())
	}
	if err := differs(c.Data, e.peer.seedOf(at)); err != nil {
		return err
	}
	if !aligned8(c.Data) {
		return errors.New("the view is not 8-aligned")
	}
	if c.Flags != want.flags&verbs.WithImm {
		return fmt.Errorf("flags %#x, want %#x", c.Flags, want.flags&verbs.WithImm)
	}
	if want.flags&verbs.WithImm != 0 && c.Imm != want.imm {
		return fmt.Errorf("immediate %#x, want %#x", c.Imm, want.imm)
	}
	inline := e.side.attr.InlineRecv
	switch took := c.Slot != verbs.NoSlot; {
	case took && want.size() > 0 && want.size() <= inline:
		return fmt.Errorf("%d bytes took slot %d, but Attr.InlineRecv is %d", want.size(), c.Slot, inline)
	case !took && want.size() > inline:
		return fmt.Errorf("%d bytes took no slot, but Attr.InlineRecv is %d", want.size(), inline)
	case took && (c.Slot < 0 || int(c.Slot) >= e.side.shape.slots):
		return fmt.Errorf("slot %d of %d", c.Slot, e.side.shape.slots)
	}
	return nil
}
