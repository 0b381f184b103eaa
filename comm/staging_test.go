package comm

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"testing"
)

// With layouts and the collector running all the time: what was packed is as it was when
// the send began, though its buffer is written at once where the call has returned; after
// Wait nobody writes what was received; and staging memory is used again, for messages of
// all lengths.
func TestStaging(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	rounds := 30
	if testing.Short() || raceEnabled {
		rounds = 12
	}
	eachConfig(t, func(t *testing.T, cfg Config) {
		run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
			const window = 4
			other := 1 - c.Rank()
			var kept []receivedBuffer
			for round := range rounds {
				var in [window]spotted
				var bufs [window][]byte
				var recvs, sends [window]Request
				for i := range window {
					in[i] = shapes[(round+i)%len(shapes)].make(stagedLength(round, i))
					bufs[i] = in[i].buffer(nil)
					recvs[i] = Irecv(c, bufs[i], other, i, in[i].options()...)
				}
				for i := range window {
					out := shapes[2+(round+i)%(len(shapes)-2)].make(stagedLength(round, i))
					b := out.buffer(staged(c.Rank(), round, i))
					sends[i] = Isend(c, b, other, i, out.options()...)
					if stagedLength(round, i) > c.world.limit {
						// It was packed. The buffer is still the request's, by the rules; to
						// write it shows that nobody reads it any more.
						for k := range b {
							b[k] = 0xdd
						}
					}
				}
				for i := range window {
					if _, err := sends[i].Wait(ctx); err != nil {
						return err
					}
				}
				for i := range window {
					if _, err := recvs[i].Wait(ctx); err != nil {
						return err
					}
					if !bytes.Equal(bufs[i], in[i].buffer(staged(other, round, i))) {
						return fmt.Errorf("round %d, message %d of %d bytes: wrong content", round, i, stagedLength(round, i))
					}
					for k := range bufs[i] {
						bufs[i][k] = byte(round)
					}
					kept = append(kept, receivedBuffer{bufs[i], byte(round)})
				}
				if len(kept) > 4*window {
					for _, k := range kept[:window] {
						if n := bytes.Count(k.buf, []byte{k.fill}); n != len(k.buf) {
							return fmt.Errorf("round %d: a buffer was written after Wait had returned", round)
						}
					}
					kept = kept[window:]
				}
			}
			w := c.world
			w.eng.Lock()
			defer w.eng.Unlock()
			idle := 0
			for _, s := range w.stagings {
				idle += cap(s.b)
			}
			if idle != w.stagingIdle || idle > stagingBytes || len(w.stagings) > stagingPieces {
				return fmt.Errorf("%d pieces, %d bytes of staging memory, counted %d", len(w.stagings), idle, w.stagingIdle)
			}
			return nil
		})
	})
}

// stagedLength has messages go every way.
func stagedLength(round, i int) int { return []int{40, 5000, 17_000, 50_000}[i] + round*13%1000 }

func staged(rank, round, i int) []byte {
	b := make([]byte, stagedLength(round, i))
	pattern(b, rank*100_000+round*10+i)
	return b
}

// Lengths that are about the same have the same memory, at most an eighth too much.
func TestStagingSize(t *testing.T) {
	for _, n := range []int{1, 4095, 4096, 4097, 16385, 65535, 65536, 65537, 1 << 20, 1<<20 + 1, 3<<20 + 7, 1<<32 + 7, 1<<62 + 1} {
		if size := stagingSize(n); size < n || size > n+max(n/8, 4096) {
			t.Errorf("%d bytes for %d", size, n)
		}
	}
}

// Staging memory goes back to where it came from when too much of it is idle.
func TestStagingBounds(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		w := c.world
		w.eng.Lock()
		defer w.eng.Unlock()
		var all []*scratch
		for range stagingPieces + 5 {
			all = append(all, w.stage(100_000))
		}
		huge := w.stage(stagingBytes + 1)
		w.unstage(huge)
		if len(w.stagings) != 0 || huge.b != nil {
			return fmt.Errorf("%d pieces are kept", len(w.stagings))
		}
		for _, s := range all {
			w.unstage(s)
		}
		if len(w.stagings) != stagingPieces {
			return fmt.Errorf("%d pieces are kept", len(w.stagings))
		}
		if s := w.stage(90_000); len(s.b) != 90_000 || len(w.stagings) != stagingPieces-1 {
			return fmt.Errorf("%d bytes, %d pieces", len(s.b), len(w.stagings))
		}
		if s := w.stage(1000); len(w.stagings) != stagingPieces-1 {
			return fmt.Errorf("%d bytes of %d were taken for 1000", len(s.b), cap(s.b))
		}
		return nil
	})
}
