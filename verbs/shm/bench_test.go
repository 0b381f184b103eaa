//go:build linux

package shm

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/verbena-mpi/verbena/internal/pin"
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/verbstest"
)

// The benchmarks of this file, of eager and of comm measure the same ping-pong at
// each layer, between two threads on two processors: ns/msg, one way.

// onTwo runs two functions, each on a thread of its own on a processor of its own.
func onTwo(b *testing.B, fs ...func()) {
	b.Helper()
	cpus := pin.Two(b)
	var wg sync.WaitGroup
	var ready sync.WaitGroup
	ready.Add(len(fs))
	for i, f := range fs {
		wg.Go(func() {
			if err := pin.Thread(cpus[i]); err != nil {
				b.Error(err)
			}
			ready.Done()
			ready.Wait()
			f()
		})
	}
	wg.Wait()
}

func perMessage(b *testing.B, messages int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/msg")
}

// BenchmarkCacheLine is the floor: a word that goes from one processor to the
// other and back.
func BenchmarkCacheLine(b *testing.B) {
	type word struct {
		atomic.Uint64
		_ [120]byte
	}
	words := new([3]word)
	n := uint64(b.N)
	onTwo(b, func() {
		for i := uint64(1); i <= n; i++ {
			words[0].Store(i)
			for words[2].Load() != i {
			}
		}
	}, func() {
		for i := uint64(1); i <= n; i++ {
			for words[0].Load() != i {
			}
			words[2].Store(i)
		}
	})
	perMessage(b, 2*b.N)
}

// BenchmarkRing is the bare ring: a cell written, and a cell taken.
func BenchmarkRing(b *testing.B) {
	b.Run("pingpong", func(b *testing.B) {
		x, y := newNode(b, Config{}, few), newNode(b, Config{}, few)
		qx, qy := join(x, y)
		b.ResetTimer()
		onTwo(b, func() { qx.play(b.N, true) }, func() { qy.play(b.N, false) })
		perMessage(b, 2*b.N)
	})
	b.Run("stream", func(b *testing.B) {
		x, y := newNode(b, Config{}, few), newNode(b, Config{}, few)
		qx, qy := join(x, y)
		b.ResetTimer()
		onTwo(b, func() {
			wr := verbs.SendWR{Op: verbs.OpSend, Hdr: make([]byte, 16), Data: make([]byte, 8)}
			for range b.N {
				for qx.send(&wr) != nil {
				}
			}
		}, func() {
			var c [16]verbs.Completion
			for got := 0; got < b.N; {
				got += qy.take(c[:])
			}
		})
		perMessage(b, b.N)
	})
}

// play is one side of a ping-pong of n messages each way.
func (q *qp) play(n int, first bool) {
	wr := verbs.SendWR{Op: verbs.OpSend, Hdr: make([]byte, 16), Data: make([]byte, 8)}
	var c [1]verbs.Completion
	for range n {
		if first {
			for q.send(&wr) != nil {
			}
		}
		for q.take(c[:]) == 0 {
		}
		if !first {
			for q.send(&wr) != nil {
			}
		}
	}
}

// BenchmarkDevice is the same through the interfaces of verbs.
func BenchmarkDevice(b *testing.B) {
	b.Run("pingpong", func(b *testing.B) {
		x, y := newNode(b, Config{}, few), newNode(b, Config{}, few)
		qx, qy := join(x, y)
		b.ResetTimer()
		onTwo(b, func() { playDevice(qx, x.rcq, b.N, true) }, func() { playDevice(qy, y.rcq, b.N, false) })
		perMessage(b, 2*b.N)
	})
	b.Run("verbstest", func(b *testing.B) { verbstest.Bench(b, harness(Config{})) })
}

func playDevice(q verbs.QP, cq verbs.CQ, n int, first bool) {
	wrs := []verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Hdr: make([]byte, 16), Data: make([]byte, 8)}}
	send := func() {
		for {
			if n, _ := q.PostSend(wrs); n == 1 {
				return
			}
		}
	}
	c := make([]verbs.Completion, 16)
	for range n {
		if first {
			send()
		}
		for cq.Poll(c) == 0 {
		}
		if !first {
			send()
		}
	}
}

// BenchmarkRead is a read of ordinary memory, by each way, whose owner is polled.
func BenchmarkRead(b *testing.B) {
	for _, w := range []Way{Stream, Copy, Direct} {
		for _, size := range []int{64 << 10, 1 << 20} {
			b.Run(w.String()+"/"+sizeName(size), func(b *testing.B) { benchRead(b, w, size) })
		}
	}
}

func sizeName(n int) string {
	if n >= 1<<20 {
		return "1MiB"
	}
	return "64KiB"
}

func benchRead(b *testing.B, w Way, size int) {
	x, y := newNode(b, Config{Read: w}, few), newNode(b, Config{Read: w}, few)
	qx, _ := join(x, y)
	src, err := y.d.Alloc(size)
	if err != nil {
		b.Fatal(err)
	}
	m, err := y.d.Register(src, verbs.AccessRead)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]byte, size)
	var over atomic.Bool
	b.SetBytes(int64(size))
	b.ResetTimer()
	onTwo(b, func() {
		defer over.Store(true)
		wrs := []verbs.SendWR{{Op: verbs.OpRead, Flags: verbs.Signaled, Data: dst, Remote: verbs.Remote{Addr: m.Addr(), Key: m.Key()}}}
		c, none := make([]verbs.Completion, 1), make([]verbs.Completion, 1)
		for range b.N {
			if n, err := qx.PostSend(wrs); n != 1 {
				b.Error(err)
				return
			}
			for x.scq.Poll(c) == 0 {
				x.rcq.Poll(none)
			}
			if c[0].Status != verbs.StatusOK {
				b.Error(c[0].Status)
				return
			}
		}
	}, func() {
		c := make([]verbs.Completion, 16)
		for !over.Load() {
			y.rcq.Poll(c)
		}
	})
}
