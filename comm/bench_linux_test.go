package comm

import (
	"context"
	"testing"

	"github.com/verbena-mpi/verbena/internal/pin"
)

// BenchmarkPingPong is the ping-pong of verbs/shm's and eager's benchmarks through
// the whole library: ns/msg, one way, between two processors.
func BenchmarkPingPong(b *testing.B) {
	cpus := pin.Two(b)
	b.Setenv("VERBENA_OWN_CORE", "1")
	run(b, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if err := pin.Thread(cpus[c.Rank()]); err != nil {
			return err
		}
		buf := make([]byte, 8)
		play := func(n int) error {
			for range n {
				if c.Rank() == 0 {
					if err := Send(ctx, c, buf, 1, 0); err != nil {
						return err
					}
				}
				if _, err := Recv(ctx, c, buf, 1-c.Rank(), 0); err != nil {
					return err
				}
				if c.Rank() == 1 {
					if err := Send(ctx, c, buf, 0, 0); err != nil {
						return err
					}
				}
			}
			return nil
		}
		if err := play(1000); err != nil { // connects, and warms up
			return err
		}
		if c.Rank() == 0 {
			b.ResetTimer()
			defer b.StopTimer()
		}
		return play(b.N)
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/msg")
}
