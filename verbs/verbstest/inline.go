package verbstest

import (
	"errors"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var inlineTests = []test{
	{"InlineGranted", testInlineGranted},
	{"InlineAsked", testInlineAsked},
	{"TooLong", testTooLong},
	{"TooLongForSlot", testTooLongForSlot},
	{"SendMemory", testSendMemory},
	{"BatchStopsAtError", testBatchStopsAtError},
}

// The granted size works to the byte, and one byte more is refused. (That the
// memory is free at once is tested all over: end.post spoils it.)
func testInlineGranted(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	granted := a.qp.Inline()
	t.Logf("asked for %d, granted %d", a.side.shape.inline, granted)
	if m := a.side.attr.MaxInline; granted > m {
		t.Errorf("granted %d bytes inline, Attr.MaxInline is %d", granted, m)
	}
	mem := make([]byte, granted+1)
	for _, hdr := range []int{0, 1, granted} {
		n, err := a.postWRs([]verbs.SendWR{{
			Op: verbs.OpSend, Flags: verbs.Inline | verbs.Signaled, Hdr: mem[:hdr], Data: mem[hdr:],
		}})
		if n != 0 || !errors.Is(err, verbs.ErrInline) && !errors.Is(err, verbs.ErrTooLong) {
			t.Fatalf("%d bytes inline: %d, %v; want ErrInline", len(mem), n, err)
		}
	}
	size := min(granted, a.side.shape.slotSize)
	for range 100 {
		a.plan(spec{data: size, flags: verbs.Inline}, spec{hdr: min(size, 16), data: size - min(size, 16), flags: verbs.Inline})
	}
	r.exchange(a, b)
}

// What is granted may be more or less than asked, never more than MaxInline.
func testInlineAsked(t *testing.T, h Harness) {
	r := newRig(t, h, 1, shape{})
	s := r.sides[0]
	for _, ask := range []int{0, 1, 33, 64, 128, 500, s.attr.MaxInline, s.attr.MaxInline + 1} {
		qp, err := s.dev.NewQP(verbs.QPConfig{SendCQ: s.scq, RecvCQ: s.rcq, RQ: s.rq, Inline: ask})
		if err != nil {
			if ask > s.attr.MaxInline && errors.Is(err, verbs.ErrInvalid) {
				continue
			}
			t.Fatalf("NewQP with %d bytes inline: %v", ask, err)
		}
		got := qp.Inline()
		if got > s.attr.MaxInline || got < min(ask, s.attr.MaxInline) {
			t.Errorf("asked for %d, granted %d, Attr.MaxInline is %d", ask, got, s.attr.MaxInline)
		}
		if err := qp.Close(); err != nil {
			t.Errorf("Close of an unconnected queue pair: %v", err)
		}
	}
}

// A message longer than the device sends is refused, and nothing is harmed.
func testTooLong(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	limit := a.side.attr.MaxSend
	if limit <= 0 || limit > 64<<20 {
		t.Skipf("Attr.MaxSend is %d: too much memory to try more", limit)
	}
	mem, mr, err := a.side.buffer(limit + 1)
	r.check(err)
	defer func() { _ = mr.Close() }()
	for _, hdr := range []int{0, 16} {
		n, err := a.postWRs([]verbs.SendWR{{Op: verbs.OpSend, Hdr: mem[:hdr], Data: mem[hdr:]}})
		if n != 0 || !errors.Is(err, verbs.ErrTooLong) {
			t.Fatalf("%d bytes: %d, %v; want ErrTooLong", len(mem), n, err)
		}
	}
	r.ping(a, b)
}

// A message longer than the receiver's slot is refused or fails with
// StatusTooLong; it is never cut, and never written past the slot's end.
func testTooLongForSlot(t *testing.T, h Harness) {
	r := newRig(t, h, 2, shape{slotSize: 1024, slots: 4})
	a, b := r.connect(0, 1)
	r.ping(a, b)
	size := 2 * b.side.shape.slotSize
	if m := a.side.attr.MaxSend; m > 0 && m < size {
		t.Skipf("Attr.MaxSend is %d: no message is longer than the slot", m)
	}
	mem, _, err := a.side.buffer(size)
	r.check(err)
	a.tolerant, b.tolerant = true, true
	var n int
	r.until("the long message to be taken or refused", func() bool {
		n, err = a.postWRs([]verbs.SendWR{{ID: 1, Op: verbs.OpSend, Flags: verbs.Signaled, Data: mem}})
		return !errors.Is(err, verbs.ErrFull)
	})
	if err != nil {
		if n != 0 || !errors.Is(err, verbs.ErrInvalid) {
			t.Fatalf("%d bytes into a slot of %d: %d, %v; want ErrTooLong", size, b.side.shape.slotSize, n, err)
		}
		a.tolerant, b.tolerant = false, false
		r.ping(a, b)
		return
	}
	a.out = append(a.out, spec{data: size, flags: verbs.Signaled})
	a.posted++
	r.until("the long message to fail", func() bool { return len(a.failed) > 0 })
	if got := a.failed[0].Status; got != verbs.StatusTooLong {
		t.Errorf("status %v, want %v", got, verbs.StatusTooLong)
	}
}

// The memory of a send is the caller's again when its completion was polled,
// its own or that of a later one: e.slab comes round and is overwritten then.
// Here it is spoiled as early as that, while the receiver is still away.
func testSendMemory(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{slots: 32, depth: 8})
	r.ping(a, b)
	base := len(a.out)
	for i := range 20 {
		s := spec{data: 3000}
		if i%2 == 1 {
			s.flags |= verbs.Signaled
		}
		a.plan(s)
	}
	b.side.idle = true
	a.auto = true
	spoiled := base
	for p := r.newPacer(r.sides...); spoiled < len(a.out); {
		r.turn()
		for ; spoiled < a.covered; spoiled++ {
			scribble(a.memory(spoiled))
		}
		if p.turns > settleTurns && b.side.idle {
			b.side.idle = false // a device may need its receiver in order to complete
		}
		if !p.next() {
			t.Fatalf("the sends don't complete\n%s", r.state())
		}
	}
	b.side.idle = false
	r.exchange(a)
}

// Requests before an invalid one are taken, the invalid one and those behind
// it are not.
func testBatchStopsAtError(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	a.plan(spec{data: 20, flags: verbs.Signaled}, spec{data: 30, flags: verbs.Signaled})
	good := []verbs.SendWR{a.request(1), a.request(2)}
	bad := verbs.SendWR{ID: 99, Op: verbs.OpSend, Flags: verbs.Inline, Data: make([]byte, a.qp.Inline()+1)}
	n, err := a.postWRs([]verbs.SendWR{good[0], bad, good[1]})
	if n != 1 || !errors.Is(err, verbs.ErrInvalid) {
		t.Fatalf("PostSend: %d, %v; want 1, ErrInvalid", n, err)
	}
	a.posted++
	r.exchange(a)
	n, err = a.postWRs([]verbs.SendWR{{ID: 99, Op: verbs.OpRecv}})
	if n != 0 || !errors.Is(err, verbs.ErrInvalid) {
		t.Fatalf("PostSend of an OpRecv: %d, %v; want 0, ErrInvalid", n, err)
	}
	r.ping(a, b)
}
