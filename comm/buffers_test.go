package comm

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
)

// Buffers live as long as a message needs them and no longer: with the collector
// running all the time, a message whose buffer nobody else keeps arrives whole; and
// after Wait has returned nobody reads what was sent or writes what was received.
func TestBuffers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	rounds := 150
	if testing.Short() || raceEnabled {
		rounds = 30
	}
	for _, cfg := range []Config{{Read: "stream"}, {Read: "copy"}, {}, {Read: "stream", Recv: "peer", EagerLimit: 100}} {
		t.Run(fmt.Sprintf("%+v", cfg), func(t *testing.T) {
			run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
				const window = 4
				other := 1 - c.Rank()
				var kept []receivedBuffer
				for round := range rounds {
					var in [window][]byte
					var recvs, sends [window]Request
					for i := range window {
						// A new buffer: what the last ones left may be anywhere in it.
						in[i] = make([]byte, sizeOf(round, i))
						recvs[i] = Irecv(c, in[i], other, i)
					}
					var out [window][]byte
					for i := range window {
						if i%2 == 0 {
							// Nobody but the request knows the buffer.
							sends[i] = Isend(c, content(c.Rank(), round, i), other, i)
							continue
						}
						out[i] = content(c.Rank(), round, i)
						sends[i] = Isend(c, out[i], other, i)
					}
					garbage := make([][]byte, 0, 50)
					for i := range 50 {
						garbage = append(garbage, bytes.Repeat([]byte{0xdb}, 1000*(1+i%7)))
					}
					for i := range window {
						if _, err := sends[i].Wait(ctx); err != nil {
							return err
						}
						for k := range out[i] {
							out[i][k] = 0xdd // a late reader gets this
						}
					}
					for i := range window {
						if _, err := recvs[i].Wait(ctx); err != nil {
							return err
						}
						if !bytes.Equal(in[i], content(other, round, i)) {
							return fmt.Errorf("round %d, message %d of %d bytes: wrong content", round, i, len(in[i]))
						}
						for k := range in[i] {
							in[i][k] = byte(round) // a late writer overwrites this
						}
						kept = append(kept, receivedBuffer{in[i], byte(round)})
					}
					runtime.KeepAlive(garbage)
					if len(kept) > 8*window {
						for _, k := range kept[:window] {
							if n := bytes.Count(k.buf, []byte{k.fill}); n != len(k.buf) {
								return fmt.Errorf("round %d: a buffer was written after Wait had returned", round)
							}
						}
						kept = kept[window:]
					}
				}
				return nil
			})
		})
	}
}

type receivedBuffer struct {
	buf  []byte
	fill byte
}

// sizeOf has messages go every way.
func sizeOf(round, i int) int { return []int{40, 5000, 100_000, 400_000}[i] + round*13%1000 }

func content(rank, round, i int) []byte {
	b := make([]byte, sizeOf(round, i))
	pattern(b, rank*100_000+round*10+i)
	return b
}

// Buffers on a stack that moves: a request holds them where the device finds them.
func TestBuffersOnStack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	run(t, 2, Config{EagerLimit: -1}, func(ctx context.Context, c *Comm) error {
		for round := range 200 {
			if err := exchangeOnStack(ctx, c, round); err != nil {
				return err
			}
		}
		return nil
	})
}

func exchangeOnStack(ctx context.Context, c *Comm, round int) error {
	var in, out [64]uint64
	other := 1 - c.Rank()
	for i := range out {
		out[i] = uint64(c.Rank()*1000 + round + i)
	}
	r := Irecv(c, in[:], other, 3)
	s := Isend(c, out[:], other, 3)
	deep(50 + round%50) // the stack grows, and moves
	if err := WaitAll(ctx, r, s); err != nil {
		return err
	}
	for i := range in {
		if want := uint64(other*1000 + round + i); in[i] != want {
			return fmt.Errorf("round %d: element %d is %d, want %d", round, i, in[i], want)
		}
	}
	return nil
}

//go:noinline
func deep(n int) (sum int) {
	var pad [512]byte
	pad[n%512] = byte(n)
	if n > 0 {
		sum = deep(n - 1)
	}
	return sum + int(pad[(n+1)%512])
}
