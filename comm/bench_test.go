package comm

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkIprobeMiss looks for a message that isn't there, beside a connected rank
// that sends nothing, with nothing waiting and with much: it allocates nothing.
func BenchmarkIprobeMiss(b *testing.B) {
	for _, waiting := range []int{0, 10_000} {
		for _, source := range []int{1, AnySource} {
			name := "rank"
			if source == AnySource {
				name = "any source"
			}
			b.Run(fmt.Sprintf("waiting=%d/%s", waiting, name), func(b *testing.B) {
				b.ReportAllocs()
				run(b, 2, Config{}, func(ctx context.Context, c *Comm) error {
					const tagOver, tagWaiting, tagMiss = 1, 2, 3
					if c.Rank() == 1 {
						_, err := Recv(ctx, c, []byte(nil), 0, tagOver)
						return err
					}
					for range waiting {
						if err := Send(ctx, c, make([]byte, 8), 0, tagWaiting); err != nil {
							return err
						}
					}
					if _, _, err := c.Iprobe(source, tagMiss); err != nil { // makes what is made once
						return err
					}
					b.ResetTimer()
					for range b.N {
						if _, found, err := c.Iprobe(source, tagMiss); found || err != nil {
							return fmt.Errorf("found %v, %w", found, err)
						}
					}
					b.StopTimer()
					return Send(ctx, c, []byte(nil), 1, tagOver)
				})
			})
		}
	}
}
