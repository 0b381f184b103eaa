package comm

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
)

// flood is how many messages a flood has: a tenth under the race detector.
func flood() int {
	if raceEnabled {
		return 100_000
	}
	return 1_000_000
}

// A rank sends a million messages that nobody has asked for, while their receiver
// waits for another rank: that one's message arrives all the same, what waits stays
// under the limit, and then all are received in order.
func TestFlood(t *testing.T) {
	const limit = 4 << 20
	for _, recv := range []string{"srq", "peer"} {
		t.Run(recv, func(t *testing.T) {
			count := flood()
			run(t, 3, Config{Recv: recv, UnexpectedLimit: limit}, func(ctx context.Context, c *Comm) error {
				buf := make([]byte, 64)
				switch c.Rank() {
				case 0:
					for i := range count {
						binary.LittleEndian.PutUint64(buf, uint64(i))
						if err := Send(ctx, c, buf, 2, 1); err != nil {
							return err
						}
					}
					return nil
				case 1:
					// When the flood has come to a halt.
					if _, err := Recv(ctx, c, buf[:1], 2, 2); err != nil {
						return err
					}
					return Send(ctx, c, buf[:1], 2, 3)
				}
				w := c.World()
				most := 0
				poll := func() {
					w.eng.Lock()
					defer w.eng.Unlock()
					w.eng.Poll()
					most = max(most, w.held(w.peers[0]))
				}
				for most < w.peers[0].quota && ctx.Err() == nil {
					poll()
				}
				for range 20_000 { // in which nothing more comes than was under way
					poll()
					runtime.Gosched()
				}
				if err := Send(ctx, c, buf[:1], 1, 2); err != nil {
					return err
				}
				if _, err := Recv(ctx, c, buf[:1], 1, 3); err != nil {
					return err
				}
				for i := range count {
					if _, err := Recv(ctx, c, buf, 0, 1); err != nil {
						return err
					}
					if got := binary.LittleEndian.Uint64(buf); got != uint64(i) {
						return fmt.Errorf("message %d, want %d", got, i)
					}
					w.eng.Lock()
					most = max(most, w.held(w.peers[0]))
					w.eng.Unlock()
				}
				// Over its share a sender can still use the credits that it has.
				if room := limit/2 + 1000*200; most > room {
					return fmt.Errorf("up to %d bytes waited, want at most %d", most, room)
				}
				return rnrOf(w)
			})
		})
	}
}

// rnrOf is an error if a message has found no slot.
func rnrOf(w *World) error {
	if n := w.Info().Counters["device.rnr"]; n != 0 {
		return fmt.Errorf("%d sends found no slot", n)
	}
	return nil
}

// Windows of more messages than there are slots and credits: one way, both ways,
// all to one; in the cell and in slots. No hang, no loss, order kept, and no message
// finds no slot.
func TestFullWindows(t *testing.T) {
	const window, rounds = 1024, 3
	for _, recv := range []string{"srq", "peer"} {
		for _, size := range []int{16, 2000} {
			for _, v := range []struct {
				name  string
				ranks int
				sends func(from, to int) bool
			}{
				{"one way", 2, func(from, to int) bool { return from == 0 }},
				{"both ways", 2, func(from, to int) bool { return true }},
				{"eight to one", 9, func(from, to int) bool { return to == 0 }},
				{"all to all", 4, func(from, to int) bool { return true }},
			} {
				t.Run(fmt.Sprintf("%s/%d B/%s", recv, size, v.name), func(t *testing.T) {
					run(t, v.ranks, Config{Recv: recv, Slots: 16}, func(ctx context.Context, c *Comm) error {
						if err := windows(ctx, c, window, rounds, size, v.sends); err != nil {
							return err
						}
						return rnrOf(c.World())
					})
				})
			}
		}
	}
}

// With more credits than slots a message may have to wait for one; none is lost.
func TestOvercommit(t *testing.T) {
	run(t, 4, Config{Slots: 2, RecvOvercommit: 50}, func(ctx context.Context, c *Comm) error {
		return windows(ctx, c, 1024, 3, 2000, func(from, to int) bool { return to == 0 })
	})
}

func windows(ctx context.Context, c *Comm, window, rounds, size int, sends func(from, to int) bool) error {
	me := c.Rank()
	for round := range rounds {
		var requests []Request
		var bufs [][]byte
		var want []uint64
		for peer := range c.Size() {
			if peer == me {
				continue
			}
			for i := range window {
				n := uint64(round*window + i)
				if sends(me, peer) {
					b := make([]byte, size)
					binary.LittleEndian.PutUint64(b, n)
					requests = append(requests, Isend(c, b, peer, 7))
				}
				if sends(peer, me) {
					b := make([]byte, size)
					requests = append(requests, Irecv(c, b, peer, 7))
					bufs, want = append(bufs, b), append(want, n)
				}
			}
		}
		if err := WaitAll(ctx, requests...); err != nil {
			return err
		}
		for i, b := range bufs {
			if got := binary.LittleEndian.Uint64(b); got != want[i] {
				return fmt.Errorf("message %d, want %d", got, want[i])
			}
		}
	}
	return nil
}
