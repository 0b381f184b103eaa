package comm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
)

// Rule 19: 12,000 synchronous sends in flight, to two ranks at once, ordinary ones
// between them, and their receivers first receive what was sent last. Some are given
// up.
func TestManyOffers(t *testing.T) {
	const count = 3 * 3000
	run(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		given := func(i int) bool { return i%1000 == 998 }
		if c.Rank() != 0 {
			if _, err := Recv(ctx, c, []byte(nil), 0, 2); err != nil { // all are under way
				return err
			}
			buf := make([]byte, 8)
			for i := range count {
				if given(i) {
					continue
				}
				if _, err := Recv(ctx, c, buf, 0, 1); err != nil {
					return err
				}
				if got := binary.LittleEndian.Uint64(buf); got != uint64(i) {
					return fmt.Errorf("message %d, want %d", got, i)
				}
			}
			return nil
		}
		var all []Request
		for i := range count {
			for to := 1; to <= 2; to++ {
				buf := binary.LittleEndian.AppendUint64(nil, uint64(i))
				var mode Option = Sync
				if i%3 == 0 {
					mode = Standard
				}
				r := Isend(c, buf, to, 1, mode)
				if given(i) {
					r.Cancel()
					if _, err := r.Wait(ctx); !errors.Is(err, ErrCanceled) {
						return fmt.Errorf("message %d was not given up: %w", i, err)
					}
					continue
				}
				all = append(all, r)
			}
		}
		for to := 1; to <= 2; to++ {
			all = append(all, Isend(c, []byte(nil), to, 2))
		}
		return WaitAll(ctx, all...)
	})
}
