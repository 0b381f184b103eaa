package verbstest

import (
	"fmt"
	"testing"
)

// Bench runs the benchmarks of a device: one-way latency, the rate of small
// messages, and reads. Each device has a goroutine of its own; where time is
// virtual, one goroutine drives both, and the numbers say what the simulation
// costs.
func Bench(b *testing.B, h Harness) {
	if h.Limit == 0 {
		h.Limit = defaultLimit
	}
	for _, size := range []int{8, 64, 1024, 8192} {
		b.Run(fmt.Sprintf("PingPong/%dB", size), func(b *testing.B) { benchPingPong(b, h, size) })
	}
	for _, batch := range []int{1, 16} {
		b.Run(fmt.Sprintf("Stream/8B/batch%d", batch), func(b *testing.B) { benchStream(b, h, 8, batch) })
	}
	for _, size := range []int{64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("Read/%dKiB", size>>10), func(b *testing.B) { benchRead(b, h, size) })
	}
}

// benchPingPong reports half a round trip as ns/op.
func benchPingPong(b *testing.B, h Harness, size int) {
	r, x, y := newBench(b, h, size)
	rounds := b.N/2 + 1
	stop := r.beside(x, y, func() error {
		n, err := y.receive()
		if err != nil || n == 0 {
			return err
		}
		return y.send(n)
	})
	b.ResetTimer()
	for range rounds {
		if err := x.send(1); err != nil {
			b.Fatal(err)
		}
		if err := x.await(1); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	stop()
}

// benchStream reports one message as an op. The receiver says when it has had
// all of them.
func benchStream(b *testing.B, h Harness, size, batch int) {
	r, x, y := newBench(b, h, size)
	got := 0
	stop := r.beside(x, y, func() error {
		n, err := y.receive()
		if got += n; n > 0 && got >= b.N && err == nil {
			return y.send(1)
		}
		return err
	})
	b.ResetTimer()
	for sent := 0; sent < b.N; sent += batch {
		if err := x.send(min(batch, b.N-sent)); err != nil {
			b.Fatal(err)
		}
	}
	if err := x.await(1); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mmsg/s")
	stop()
}

// benchRead reads the peer's memory, one read at a time.
func benchRead(b *testing.B, h Harness, size int) {
	r, x, y := newBench(b, h, 8)
	src := r.newSource(1, size)
	tg := r.newTarget(x.end, size, 0)
	stop := r.beside(x, y, func() error {
		_, err := y.receive()
		return err
	})
	b.SetBytes(int64(size))
	b.ResetTimer()
	for range b.N {
		if err := x.read(tg.data, src.at(0)); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	stop()
	if at := firstDifference(tg.data, src.mem); at >= 0 {
		b.Fatalf("byte %d of what was read is wrong", at)
	}
}
