package rendezvous

import (
	"fmt"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs/sim"
)

// BenchmarkCache sends one buffer again and again, with the cache and without. What
// it reports is the simulation's time: its link has 1 µs and 10 GB/s, a registration
// costs 1 µs and 50 ns for each page.
func BenchmarkCache(b *testing.B) {
	for _, size := range []int{32 << 10, 256 << 10, 1 << 20, 4 << 20} {
		for _, entries := range []int{0, cacheEntries} {
			b.Run(fmt.Sprintf("bytes=%d/cached=%v", size, entries > 0), func(b *testing.B) {
				r := newRig(b, 2, sim.Config{})
				x, y := r.ranks[0], r.ranks[1]
				x.layer.cache.max, y.layer.cache.max = entries, entries
				mem, into := pattern(1, size), newPulling(size)
				transfer := func() {
					s := x.offerKept(1, mem)
					into.told = nil
					o := y.takeOffer()
					y.do(func() { into.start(y, o) })
					r.until("a transfer", func() bool { return len(s.told) > 0 && len(into.told) > 0 })
				}
				transfer()
				start := r.nw.Now()
				b.ResetTimer()
				for range b.N {
					transfer()
				}
				per := (r.nw.Now() - start) / time.Duration(b.N)
				b.ReportMetric(float64(per.Nanoseconds())/1e3, "sim-µs/op")
				b.ReportMetric(float64(size)/float64(per.Nanoseconds())*1e3, "sim-MB/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
