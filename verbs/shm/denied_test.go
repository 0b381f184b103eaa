//go:build linux

package shm

import (
	"bytes"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// A way that turns out to be denied gives way to streaming, also when the ring has
// no room for asking just then; never to one that was not checked.
func TestDenied(t *testing.T) {
	for _, v := range []struct {
		way    Way
		noCopy bool
	}{{Direct, true}, {Copy, false}} {
		for _, full := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/no copy %v/ring full %v", v.way, v.noCopy, full), func(t *testing.T) {
				a, b := newNode(t, Config{Read: v.way, NoSingleCopy: v.noCopy}, few), newNode(t, Config{}, few)
				qa, _ := join(a, b)
				src, err := b.d.Alloc(100_000)
				if err != nil {
					t.Fatal(err)
				}
				copy(src, bytes.Repeat([]byte("verbena"), len(src)/7))
				m, err := b.d.Register(src, verbs.AccessRead)
				if err != nil {
					t.Fatal(err)
				}
				if v.way == Direct {
					_ = unix.Close(qa.link.fds[1])
					qa.link.fds[1] = -1
				} else {
					qa.link.pid = 1 << 30 // nobody's
				}
				for full && qa.tryPost(message(0, 8)) {
				}
				dst := make([]byte, len(src))
				a.read(qa, dst, m, 1)
				for range 100 {
					a.poll()
				}
				if len(a.reads) != 0 {
					t.Fatalf("the read has ended: %v", a.reads)
				}
				until(t, "the read", func() bool { return len(a.reads) == 1 }, a, b)
				if a.reads[1] != verbs.StatusOK || !bytes.Equal(dst, src) {
					t.Errorf("the read ended with %v", a.reads[1])
				}
				if c := a.d.count; c.denied != 1 || c.stream != 1 || c.copy != 0 || c.direct != 0 {
					t.Errorf("%+v", c)
				}
				// And the next one streams from the start.
				a.read(qa, dst, m, 2)
				until(t, "the next read", func() bool { return len(a.reads) == 2 }, a, b)
				if c := a.d.count; c.denied != 1 || c.stream != 2 {
					t.Errorf("the next: %+v", c)
				}
				if a.d.work.Load() != 0 || a.d.streaming != 0 {
					t.Errorf("left: work %d, %d streaming", a.d.work.Load(), a.d.streaming)
				}
			})
		}
	}
}

// A read that found no room keeps nothing of its caller's.
func TestRefusedReadKeepsNothing(t *testing.T) {
	a, b := newNode(t, Config{Read: Stream}, few), newNode(t, Config{}, few)
	qa, _ := join(a, b)
	m, _ := registered(b, 1000)
	for qa.tryPost(message(0, 8)) {
	}
	wr := []verbs.SendWR{{ID: 1, Op: verbs.OpRead, Data: make([]byte, 1000), Remote: verbs.Remote{Addr: m.Addr(), Key: m.Key()}}}
	if n, err := qa.PostSend(wr); n != 0 || err != verbs.ErrFull {
		t.Fatalf("a read beside a full ring: %d, %v", n, err)
	}
	for i := range a.d.reading {
		if a.d.reading[i].dst != nil {
			t.Error("the memory is kept")
		}
	}
	if len(a.d.freeRd) != maxReads || a.d.streaming != 0 {
		t.Errorf("%d free, %d streaming", len(a.d.freeRd), a.d.streaming)
	}
}
