package conformance

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/verbena-mpi/verbena/comm"
)

// Rules 14 and 17: lengths around 2³¹ and 2³², where system calls have limits, by each
// way of reading:
//
//	go test ./internal/conformance -run TestHuge -args -huge
func TestHuge(t *testing.T) {
	if !*huge {
		t.Skip("it needs 10 GB of memory: run it with -args -huge")
	}
	for _, d := range present() {
		t.Run(d.name, func(t *testing.T) {
			for _, n := range []int{1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 + 7} {
				t.Run(fmt.Sprint(n), func(t *testing.T) { sendHuge(t, d, n) })
			}
		})
	}
}

var huge = flag.Bool("huge", false, "run TestHuge, which needs 10 GB of memory")

func sendHuge(t *testing.T, d device, n int) {
	t.Cleanup(debug.FreeOSMemory) // before the next one
	p := place{device: d, queue: "srq"}
	size := slices.Max(d.pairings()) + 1
	p.ranks(t, size, func(ctx context.Context, c *comm.Comm) error {
		x := exchange{place: p, c: c, peer: size - 1 - c.Rank()}
		var sent comm.Request
		if c.Rank() == 0 {
			b := x.memory(n)
			fillHuge(b)
			sent = comm.Isend(c, b, size-1, 1)
			if d.alloc {
				defer comm.Free(c, b)
			}
		}
		if c.Rank() == size-1 {
			b := x.memory(n)
			if d.alloc {
				defer comm.Free(c, b)
			}
			s, err := comm.Recv(ctx, c, b, 0, 1)
			if err != nil {
				return err
			}
			if s.Bytes != int64(n) {
				return fmt.Errorf("%d bytes of %d", s.Bytes, n)
			}
			if err := sameHuge(b); err != nil {
				return err
			}
		}
		return waited(ctx, sent)
	})
}

// piece is what huge messages repeat: it has no period of a power of two.
func piece() []byte {
	b := make([]byte, 1<<20-3)
	fill(b, 5)
	for i := 0; i < len(b); i += 251 {
		b[i] = byte(i >> 12)
	}
	return b
}

func fillHuge(b []byte) {
	for p := piece(); len(b) > 0; {
		b = b[copy(b, p):]
	}
}

func sameHuge(b []byte) error {
	p := piece()
	for at := 0; at < len(b); at += len(p) {
		part := b[at:min(at+len(p), len(b))]
		if !bytes.Equal(part, p[:len(part)]) {
			return fmt.Errorf("of %d bytes those from %d on are wrong", len(b), at)
		}
	}
	return nil
}
