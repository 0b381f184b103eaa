//go:build ibv && cgo && linux

package ibv

import (
	"errors"
	"fmt"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

func TestInlineIsAskedForAgain(t *testing.T) {
	d := openTest(t)
	s := newSide(t, d, verbs.RQConfig{Shared: true, Slots: 1, SlotSize: 64}, 4, 4000)
	d.(verbs.Counted).Counters(func(name string, v uint64) bool { t.Log(name, v); return true })
	t.Logf("asked 4000, granted %d, device says %d", s.qp.Inline(), d.Attr().MaxInline)
	if s.qp.Inline() != d.Attr().MaxInline || s.qp.Inline() < 16 {
		t.Fail()
	}
}

// TestLow: the limit of a shared queue is noted while nobody polls, once, and again
// after a repost. The queue runs dry meanwhile: sends wait, and none is lost.
func TestLow(t *testing.T) {
	const slots, sends = 8, 100
	a, b := connected(t, false, verbs.RQConfig{Shared: true, Slots: slots, SlotSize: 64, Low: 4}, 16)
	lows, have := 0, 0
	for sent := 0; have < sends || lows < 2; {
		for sent < sends { // unsignaled: only the device's own signals make room
			n, err := a.qp.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: []byte{byte(sent)}}})
			if err != nil && err != verbs.ErrFull {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			sent += n
		}
		if a.take(); len(a.got) > 0 {
			t.Fatalf("completion of an unsignaled send: %+v", a.got[0])
		}
		if b.take(); len(b.got) < slots && have+len(b.got) < sends {
			continue
		}
		var back []verbs.Slot
		for _, c := range b.got {
			if c.Op == verbs.OpLow {
				lows++
				continue
			}
			if c.Op != verbs.OpRecv || c.Data[0] != byte(have) {
				t.Fatalf("message %d: %+v", have, c)
			}
			have++
			back = append(back, c.Slot)
		}
		b.got = b.got[:0]
		b.rq.Repost(back)
	}
	t.Logf("%d sends through %d slots, %d low notes", have, slots, lows)
}

func TestTooLong(t *testing.T) {
	a, b := connected(t, false, verbs.RQConfig{Shared: true, Slots: 16, SlotSize: 64}, 16)
	data := make([]byte, 1000)
	a.post(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Inline})
	b.want(verbs.OpRecv, verbs.StatusOK)
	for _, c := range []struct {
		wr   verbs.SendWR
		want error
	}{
		{verbs.SendWR{Op: verbs.OpSend, Data: data[:60]}, verbs.ErrInvalid}, // not registered
		{verbs.SendWR{Op: verbs.OpSend, Data: data[:65]}, verbs.ErrTooLong},
		{verbs.SendWR{Op: verbs.OpSend, Data: data[:129], Flags: verbs.Inline}, verbs.ErrTooLong},
		{verbs.SendWR{Op: verbs.OpRead, Hdr: data[:1]}, verbs.ErrInvalid},
	} {
		if n, err := a.qp.PostSend([]verbs.SendWR{c.wr}); n != 0 || !errors.Is(err, c.want) {
			t.Errorf("%d, %v; want %v", n, err, c.want)
		}
	}
	if _, err := a.dev.Register(data, 0); err != nil {
		t.Fatal(err)
	}
	a.qp.(*queuePair).longest = 1000 // a sender that doesn't care
	a.post(verbs.SendWR{Op: verbs.OpSend, Data: data}, verbs.SendWR{ID: 1, Op: verbs.OpSend, Flags: verbs.Inline, Data: data[:10]})
	b.want(verbs.OpClosed, verbs.StatusTooLong)
	a.want(verbs.OpSend, verbs.StatusTooLong)
	if c := a.want(verbs.OpSend, verbs.StatusFlushed); c.ID != 1 {
		t.Errorf("%+v", c)
	}
	a.next() // its end, by its own error or by the peer's word
	if n := b.rq.Posted(); n != 15 {
		t.Errorf("%d slots posted, want 15", n)
	}
}

// TestBatch posts more at once than a crossing takes and than the queue holds, and a
// batch with a wrong request in its middle.
func TestBatch(t *testing.T) {
	a, b := connected(t, false, verbs.RQConfig{Shared: true, Slots: 128, SlotSize: 64}, 48)
	a.post(verbs.SendWR{Op: verbs.OpSend})
	b.rq.Repost([]verbs.Slot{b.want(verbs.OpRecv, verbs.StatusOK).Slot})
	for a.take(); len(a.got) > 0; a.take() {
		t.Fatalf("%+v", a.got)
	}
	wrs := make([]verbs.SendWR, 100)
	for i := range wrs {
		wrs[i] = verbs.SendWR{ID: uint64(i), Op: verbs.OpSend, Flags: verbs.Inline, Hdr: []byte{byte(i)}}
	}
	wrs[47].Flags |= verbs.Signaled
	if n, err := a.qp.PostSend(wrs); n != 47 || err != verbs.ErrFull { // the first one hasn't completed: nobody asked
		t.Fatal(n, err)
	}
	wrs = wrs[47:]
	wrs[3].Op = verbs.OpRecv
	for {
		n, err := a.qp.PostSend(wrs)
		if wrs = wrs[n:]; err == verbs.ErrFull {
			a.take()
			continue
		}
		if !errors.Is(err, verbs.ErrInvalid) || len(wrs) != 50 {
			t.Fatal(n, err, len(wrs))
		}
		break
	}
	for i := range 50 {
		if c := b.want(verbs.OpRecv, verbs.StatusOK); c.Data[0] != byte(i) {
			t.Fatalf("%+v", c)
		}
	}
	if c := a.want(verbs.OpSend, verbs.StatusOK); c.ID != 47 {
		t.Fatalf("%+v", c)
	}
}

// BenchmarkLocalKey is what a post pays for memory that is named by address alone.
func BenchmarkLocalKey(b *testing.B) {
	const n = 1024
	d := &device{}
	mem := make([]byte, n*256)
	for i := range n {
		part := mem[i*256:][:256]
		d.regions = append(d.regions, &region{mem: part, base: addrOf(part), size: uint64(len(part)), local: true})
	}
	for _, step := range []int{0, 17} {
		b.Run(fmt.Sprintf("step %d", step), func(b *testing.B) {
			i := 0
			for b.Loop() {
				i = (i + step) % n
				if _, ok := d.localKey(mem[i*256+8:][:200], false); !ok {
					b.Fatal(i)
				}
			}
		})
	}
}

func TestAllocations(t *testing.T) {
	a, b := connected(t, false, verbs.RQConfig{Shared: true, Slots: 16, SlotSize: 64}, 16)
	a.post(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Inline})
	b.want(verbs.OpRecv, verbs.StatusOK)
	b.rq.Repost([]verbs.Slot{0})
	wrs := []verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Hdr: make([]byte, 16), Data: make([]byte, 8)}}
	cs, slots := make([]verbs.Completion, 1), make([]verbs.Slot, 1)
	if n := testing.AllocsPerRun(200, func() {
		for {
			n, err := a.qp.PostSend(wrs)
			if n == 1 {
				break
			}
			if err != verbs.ErrFull {
				t.Fatal(err)
			}
			a.cq.Poll(cs)
		}
		for b.cq.Poll(cs) == 0 {
		}
		slots[0] = cs[0].Slot
		b.rq.Repost(slots)
	}); n != 0 {
		t.Errorf("%v allocations for a message", n)
	}
}
