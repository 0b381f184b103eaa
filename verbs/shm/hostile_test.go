//go:build linux

package shm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
)

// attack is something that a peer can write, with what it leads to.
type attack struct {
	name string
	// write writes it: q is the hostile queue pair, v the victim's end of it.
	write func(q, v *qp)
	// harmless: the victim goes on with this peer too.
	harmless bool
	// post: the victim finds out when it sends.
	post bool
}

// cellWith publishes a cell with any word and body.
func (q *qp) cellWith(n int, kind uint16, body ...uint64) {
	c := &q.tx.cells[q.pos%ringCells]
	for i, v := range body {
		binary.LittleEndian.PutUint64(c.body[8*i:], v)
	}
	q.publish(c, n, kind)
	q.bell(true)
}

// slotWith publishes a slot's number.
func (q *qp) slotWith(slot uint64, n int) { q.cellWith(n, kindSlot, slot) }

var attacks = []attack{
	{name: "a message longer than a cell", write: func(q, _ *qp) { q.cellWith(cellMax+1, kindSend) }},
	{name: "the longest message, in a cell", write: func(q, _ *qp) { q.cellWith(maxSend, kindSend) }},
	{name: "kind 0", write: func(q, _ *qp) { q.cellWith(8, 0) }},
	{name: "the first unknown kind", write: func(q, _ *qp) { q.cellWith(8, kindFailed+1) }},
	{name: "the last unknown kind", write: func(q, _ *qp) { q.cellWith(8, kindMask) }},
	{name: "all bits set", write: func(q, _ *qp) {
		q.tx.cells[q.pos%ringCells].word.Store(1<<64 - 1<<32 | uint64(uint32(q.pos+1)))
	}},

	{name: "the slot after the last", write: func(q, _ *qp) { q.slotWith(uint64(len(q.slots.owners)), 200) }},
	{name: "slot 2³¹", write: func(q, _ *qp) { q.slotWith(1<<31, 200) }},
	{name: "slot 2³²−1", write: func(q, _ *qp) { q.slotWith(1<<32-1, 200) }},
	{name: "a slot that is free", write: func(q, _ *qp) { q.slotWith(5, 200) }},
	{name: "a slot that another peer has claimed", write: func(q, _ *qp) {
		q.slots.owners[5].Store(q.mine + 1)
		q.slotWith(5, 200)
		q.slots.owners[5].Store(q.mine + 1)
	}},
	{name: "a slot that is lent", write: func(q, _ *qp) {
		q.slots.owners[5].Store(slotLent)
		q.slotWith(5, 200)
	}},
	{name: "a slot message longer than the slot", write: func(q, _ *qp) {
		i, _ := q.claim()
		q.slotWith(uint64(i), q.slots.size+1)
	}},
	{name: "the same slot twice", write: func(q, _ *qp) {
		i, _ := q.claim()
		q.slotWith(uint64(i), 200)
		q.slotWith(uint64(i), 200)
	}},

	{name: "a read into no read's number", write: func(q, _ *qp) { q.cellWith(32, kindRead, 0, 0, 1, maxReads) }},
	{name: "a read of nothing", write: func(q, _ *qp) { q.cellWith(32, kindRead, 0, 0, 0, 0) }},
	{name: "a read with a wrong key", harmless: true, write: func(q, _ *qp) {
		q.link.reads[3].word.Store(7)
		q.cellWith(32, kindRead, 4096, 1<<32, 100, 7<<32|3)
	}},
	{name: "a read of everything", harmless: true, write: func(q, _ *qp) { q.cellWith(32, kindRead, 0, 1<<32, 1<<64-1, 3) }},
	{name: "a read that nobody waits for", harmless: true, write: func(q, _ *qp) { q.cellWith(32, kindRead, 4096, 1<<32, 100, 9<<32|3) }},

	{name: "the chunk after the last", write: func(q, _ *qp) { q.cellWith(24, kindChunk, 0, chunkUnits, 100) }},
	{name: "chunk 2⁶⁴−1", write: func(q, _ *qp) { q.cellWith(24, kindChunk, 0, 1<<64-1, 100) }},
	{name: "a chunk without bytes", write: func(q, _ *qp) { q.cellWith(24, kindChunk, 0, 0, 0) }},
	{name: "a chunk longer than chunks are", write: func(q, _ *qp) { q.cellWith(24, kindChunk, 0, 0, chunkMost+1) }},
	{name: "a chunk of 2⁶⁴−1 bytes", write: func(q, _ *qp) { q.cellWith(24, kindChunk, 0, 0, 1<<64-1) }},
	{name: "a chunk that ends outside", write: func(q, _ *qp) { q.cellWith(24, kindChunk, 0, chunkUnits-1, chunkMost) }},
	{name: "a chunk for no read", harmless: true, write: func(q, _ *qp) { q.cellWith(24, kindChunk, 5<<32|maxReads, 0, 100) }},
	{name: "a chunk for a read that has ended", harmless: true, write: func(q, _ *qp) { q.cellWith(24, kindChunk, 5<<32|3, 0, 100) }},

	{name: "a read that failed with success", write: func(q, _ *qp) { q.cellWith(16, kindFailed, 0, uint64(verbs.StatusOK)) }},
	{name: "a read that failed with a status of tomorrow", write: func(q, _ *qp) { q.cellWith(16, kindFailed, 0, 200) }},
	{name: "a read that failed with 256", write: func(q, _ *qp) { q.cellWith(16, kindFailed, 0, 256) }},
	{name: "a read that failed with 258", write: func(q, _ *qp) { q.cellWith(16, kindFailed, 0, 258) }},
	{name: "the failure of no read", harmless: true, write: func(q, _ *qp) { q.cellWith(16, kindFailed, 1<<64-1, uint64(verbs.StatusRemoteAccess)) }},

	// The victim's sending side: the ring's head lies in the hostile segment.
	{name: "a head ahead of what was sent", post: true, write: func(q, v *qp) { q.rx.ring.head.Store(v.pos + 1) }},
	{name: "a head far ahead", post: true, write: func(q, _ *qp) { q.rx.ring.head.Store(1 << 63) }},
	{name: "a head far behind", post: true, write: func(q, v *qp) {
		q.rx.ring.head.Store(v.pos - ringCells - 1)
		v.limit = v.pos // it is looked at when the ring seems full
	}},
	{name: "wants of all kinds", harmless: true, write: func(q, v *qp) {
		q.tx.want.Store(1<<32 - 1)
		q.slots.want.Store(1<<32 - 1)
		q.link.header.armed.Store(200)
		q.link.header.chunkWant.Store(1<<32 - 1)
	}},
	{name: "chunks given back that nobody has", harmless: true, write: func(q, _ *qp) { q.tx.back.Store(1 << 40) }},
}

// Whatever a peer writes, its queue pair ends with StatusCorrupt, once, or it does
// no harm; messages that came before are delivered; others are not disturbed.
func TestHostile(t *testing.T) {
	for _, v := range attacks {
		for _, shared := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/shared %v", v.name, shared), func(t *testing.T) { v.run(t, shared) })
		}
	}
}

func (v attack) run(t *testing.T, shared bool) {
	rc := few
	rc.Shared = shared
	a, h, o := newNode(t, Config{Read: Stream}, rc), newNode(t, Config{}, few), newNode(t, Config{Read: Stream}, few)
	qh, ha := join(a, h)
	qo, oa := join(a, o)
	for i := range 3 {
		if !ha.post(t, message(i, 200), 0) {
			t.Fatal("no room")
		}
	}
	v.write(ha, qh)
	if v.post {
		if qh.limit > qh.pos { // it is looked at when the ring seems full
			qh.limit = qh.pos
		}
		_, _ = qh.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Data: []byte("hello")}})
	}
	if v.harmless {
		for range 50 {
			a.poll()
			h.poll()
		}
		talk(a, h, qh, ha)
		talk(a, o, qo, oa)
		a.checkReads(o, qo, oa)
		if len(a.ends) != 0 {
			t.Errorf("ends %v", a.ends)
		}
		return
	}
	until(t, "the end", func() bool { return len(a.ends) > 0 }, a)
	// More of it finds no ear.
	for i := range 3 {
		ha.cellWith(8, kindSend, uint64(i))
	}
	talk(a, o, qo, oa)
	a.checkReads(o, qo, oa)
	if d := cmp.Diff([]end{{qh.num, verbs.StatusCorrupt}}, a.ends, cmp.AllowUnexported(end{})); d != "" {
		t.Errorf("ends (-want +got)\n%s", d)
	}
	if v.post {
		return // it ended before anything was received
	}
	got := a.from(qh)
	if len(got) < 3 || len(got) > 4 { // what came before the attack, or with it
		t.Fatalf("%d messages of the hostile peer", len(got))
	}
	for i := range 3 {
		if got[i] != string(message(i, 200)) {
			t.Errorf("message %d before the attack is wrong", i)
		}
	}
	if _, err := qh.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Data: []byte("hello")}}); err == nil {
		t.Error("sent to a peer that is not believed")
	}
}

// checkReads has both of an honest pair read from each other.
func (n *node) checkReads(o *node, q, oq *qp) {
	n.t.Helper()
	for i, size := range []int{100, 100_000, 3 << 20} {
		src, dst, m := newRead(o, n, q, size, uint64(100+i))
		src2, dst2, m2 := newRead(n, o, oq, size, uint64(100+i))
		until(n.t, "reads both ways", func() bool { return len(n.reads) > i && len(o.reads) > i }, n, o)
		if !bytes.Equal(src, dst) || !bytes.Equal(src2, dst2) {
			n.t.Errorf("%d bytes were read wrong", size)
		}
		if err := m.Close(); err != nil {
			n.t.Error(err)
		}
		if err := m2.Close(); err != nil {
			n.t.Error(err)
		}
	}
}

// A peer that streams more into a read than was asked for writes nothing outside.
func TestHostileChunks(t *testing.T) {
	for _, v := range []struct {
		name  string
		sizes []uint64
	}{
		{"one chunk too long", []uint64{1001}},
		{"the last too long", []uint64{900, 101}},
		{"one too many", []uint64{900, 100, 1}},
	} {
		t.Run(v.name, func(t *testing.T) {
			a, h := newNode(t, Config{Read: Stream}, few), newNode(t, Config{}, few)
			qh, ha := join(a, h)
			m, err := h.d.Register(make([]byte, 1000), verbs.AccessRead)
			if err != nil {
				t.Fatal(err)
			}
			all := bytes.Repeat([]byte{7}, 3000)
			a.read(qh, all[1000:2000], m, 1)
			token := binary.LittleEndian.Uint64(ha.rx.ring.cells[ha.rx.pos%ringCells].body[24:])
			for _, n := range v.sizes {
				ha.cellWith(24, kindChunk, token, 0, n)
			}
			until(t, "the end of the read", func() bool { return len(a.reads) > 0 }, a)
			for range 20 {
				a.poll()
			}
			if bytes.Count(all[:1000], []byte{7}) != 1000 || bytes.Count(all[2000:], []byte{7}) != 1000 {
				t.Error("written outside the read's memory")
			}
			if s := a.reads[1]; len(v.sizes) == 3 && s != verbs.StatusOK || len(v.sizes) < 3 && s != verbs.StatusCorrupt {
				t.Errorf("the read ended with %v", s)
			}
		})
	}
}

// A read of memory that its owner describes wrongly fails.
func TestHostileRegion(t *testing.T) {
	for _, w := range []Way{Direct, Copy} {
		for _, v := range []struct {
			name string
			lie  func(e *region)
		}{
			{"outside the segment", func(e *region) { e.off = 1 << 40 }},
			{"the offset overflows", func(e *region) { e.off = 1<<64 - 100 }},
			{"ends outside the segment", func(e *region) { e.off = 16<<20 - 10 }},
			{"outside the process", func(e *region) { e.addr = 1 << 62 }},
		} {
			t.Run(fmt.Sprintf("%v/%s", w, v.name), func(t *testing.T) {
				a, h := newNode(t, Config{Read: w}, few), newNode(t, Config{}, few)
				qh, _ := join(a, h)
				mem, err := h.d.Alloc(1000)
				if err != nil {
					t.Fatal(err)
				}
				m, err := h.d.Register(mem, verbs.AccessRead)
				if err != nil {
					t.Fatal(err)
				}
				e := &h.d.regions.table[m.Key()&keyEntry]
				v.lie(e)
				dst := make([]byte, 1000)
				wr := []verbs.SendWR{{ID: 1, Op: verbs.OpRead, Flags: verbs.Signaled, Data: dst, Remote: verbs.Remote{Addr: e.addr, Key: m.Key()}}}
				if _, err := qh.PostSend(wr); err != nil {
					t.Fatal(err)
				}
				until(t, "the read's end", func() bool { return len(a.reads) > 0 }, a, h)
				lied := w == Direct && e.addr != 1<<62 || w == Copy && e.addr == 1<<62
				if s := a.reads[1]; lied != (s == verbs.StatusRemoteAccess) || !lied && s != verbs.StatusOK {
					t.Errorf("the read ended with %v", s)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
