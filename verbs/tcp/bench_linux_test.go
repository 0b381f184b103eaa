package tcp

import (
	"fmt"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/verbstest"
)

// What the device does between two goroutines, and what two sockets give without it:
// run both in one go, and compare.
func BenchmarkDevice(b *testing.B) { verbstest.Bench(b, harness(Config{}, normal)) }

// BenchmarkRaw is two non-blocking sockets, each looked at all the time.
func BenchmarkRaw(b *testing.B) {
	for _, size := range []int{8, 64, 1024, 8192} {
		b.Run(fmt.Sprintf("PingPong/%dB", size), func(b *testing.B) {
			rawPair(b, b.N/2+1, size, size)
		})
	}
	for _, size := range []int{64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("Read/%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			rawPair(b, b.N, 40, size)
		})
	}
}

// rawPair sends ask bytes one way and answer bytes the other, so many times.
func rawPair(b *testing.B, rounds, ask, answer int) {
	x, y := linked(b)
	b.ResetTimer()
	move := func(fd int, p []byte, call func(int, []byte) (int, error)) {
		for len(p) > 0 {
			n, err := call(fd, p[:min(len(p), maxData)])
			if err != nil {
				b.Error(err)
				return
			}
			p = p[n:]
		}
	}
	read := func(fd int, p []byte) (int, error) {
		n, _, err := recv(fd, p)
		return n, err
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		p := make([]byte, max(ask, answer))
		for range rounds {
			move(y.fd, p[:ask], read)
			move(y.fd, p[:answer], send)
		}
	})
	p := make([]byte, max(ask, answer))
	for range rounds {
		move(x.fd, p[:ask], send)
		move(x.fd, p[:answer], read)
	}
	wg.Wait()
}

// linked makes two ends of a link.
func linked(t testing.TB) (x, y *link) {
	a := opened(t, Config{Secret: job, Net: "lo"}, accepts)
	b := opened(t, Config{Secret: job, Net: "lo"}, accepts)
	x = a.dialed(t, b, 0)
	return x, b.taken(t)
}

// BenchmarkAlone has both ends in one goroutine, so that each message is there when it
// is looked for, and counts the processor's time: it can be compared on a busy machine.
func BenchmarkAlone(b *testing.B) {
	for _, size := range []int{8, 1024, 4000, 16 << 10} {
		b.Run(fmt.Sprintf("raw/%dB", size), func(b *testing.B) {
			x, y := linked(b)
			p := make([]byte, size)
			measured(b, func() {
				for _, way := range [2][2]*link{{x, y}, {y, x}} {
					if _, err := send(way[0].fd, p); err != nil {
						b.Fatal(err)
					}
					for left := size; left > 0; {
						n, _, err := recv(way[1].fd, p)
						if err != nil {
							b.Fatal(err)
						}
						left -= n
					}
				}
			})
		})
		b.Run(fmt.Sprintf("device/%dB", size), func(b *testing.B) {
			x, y := newDuo(b, normal)
			p := make([]byte, size)
			measured(b, func() {
				x.send(b, p)
				y.receive(b, 1)
				y.send(b, p)
				x.receive(b, 1)
			})
		})
	}
}

// measured reports the processor's time for half of f.
func measured(b *testing.B, f func()) {
	b.ReportAllocs()
	b.ResetTimer()
	before := processorTime(b)
	for range b.N {
		f()
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(2*b.N), "cpu-ns/msg")
}

func processorTime(t testing.TB) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkAloneRead is BenchmarkAlone for a large read, and as many bytes over a socket.
func BenchmarkAloneRead(b *testing.B) {
	const size = 1 << 20
	b.Run("raw", func(b *testing.B) {
		x, y := linked(b)
		p, q := make([]byte, size), make([]byte, size)
		measured(b, func() {
			for sent, got := 0, 0; got < size; {
				n, err := send(x.fd, p[sent:min(sent+maxData, size)])
				if sent += n; err != nil {
					b.Fatal(err)
				}
				n, _, err = recv(y.fd, q[got:min(got+maxData, size)])
				if got += n; err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("device", func(b *testing.B) {
		x, y := newDuo(b, normal)
		mr, err := y.dev.Register(make([]byte, size), verbs.AccessRead)
		if err != nil {
			b.Fatal(err)
		}
		data := make([]byte, size)
		measured(b, func() {
			if st := x.readInto(b, y, data, verbs.Remote{Addr: mr.Addr(), Key: mr.Key()}); st != verbs.StatusOK {
				b.Fatal(st)
			}
		})
	})
}
