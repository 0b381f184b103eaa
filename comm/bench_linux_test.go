package comm

import (
	"context"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkPingPong is the ping-pong of verbs/shm's and eager's benchmarks through
// the whole library: ns/msg, one way, between two processors.
func BenchmarkPingPong(b *testing.B) {
	cpus := processors(b)
	b.Setenv("VERBENA_OWN_CORE", "1")
	run(b, 2, Config{}, func(ctx context.Context, c *Comm) error {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		var set unix.CPUSet
		set.Set(cpus[c.Rank()])
		if err := unix.SchedSetaffinity(0, &set); err != nil {
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

func processors(b *testing.B) (cpus []int) {
	b.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		b.Fatal(err)
	}
	for i := range 1024 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	if len(cpus) < 2 || runtime.GOMAXPROCS(0) < 2 {
		b.Skip("needs two processors")
	}
	return cpus
}
