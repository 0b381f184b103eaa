package eager

import (
	"runtime"
	"sync"
	"testing"

	"github.com/verbena-mpi/verbena/internal/pin"
	"github.com/verbena-mpi/verbena/progress"
	"github.com/verbena-mpi/verbena/srq"
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/shm"
)

// benchRank is an upper layer that counts.
type benchRank struct {
	eng  *progress.Engine
	dev  *shm.Device
	ep   *Endpoint
	got  int
	ends int
}

func (r *benchRank) Message(*Endpoint, uint32, int32, uint32, []byte) { r.got++ }
func (r *benchRank) Arrived(*Endpoint, Header, []byte)                {}
func (r *benchRank) Read(*Endpoint, *verbs.Completion)                {}
func (r *benchRank) Closed(*Endpoint, verbs.Status)                   { r.ends++ }

// BenchmarkEager is the ping-pong of verbs/shm's benchmarks through this layer and
// the engine's polling: ns/msg, one way, between two processors.
func BenchmarkEager(b *testing.B) {
	cpus := pin.Two(b)
	var ranks [2]*benchRank
	var layers [2]*Layer
	for i := range ranks {
		r := &benchRank{}
		var err error
		if r.eng, err = progress.New(progress.Config{}); err != nil {
			b.Fatal(err)
		}
		defer r.eng.Close()
		if r.dev, err = shm.Open(shm.Config{MaxPeers: 2}); err != nil {
			b.Fatal(err)
		}
		defer r.dev.Close()
		layers[i], err = New(r.eng, r.dev, Config{Inline: 400, Limit: 8192, Depth: 128, Bounce: 16, Recv: srq.Config{Slots: 64, Peers: 1}}, r)
		if err != nil {
			b.Fatal(err)
		}
		ranks[i] = r
	}
	for i, r := range ranks {
		var err error
		if r.ep, err = layers[i].Endpoint(1-i, ranks[1-i].dev.Addr(), uint32(i), uint32(1-i), layers[1-i].Credits()); err != nil {
			b.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for i, r := range ranks {
		wg.Go(func() {
			if err := pin.Thread(cpus[i]); err != nil {
				b.Error(err)
			}
			r.play(1000, i == 0) // connects, and warms up
			if i == 0 {
				b.ResetTimer()
			}
			r.play(b.N, i == 0)
			if i == 0 {
				b.StopTimer()
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/msg")
	if ranks[0].ends+ranks[1].ends != 0 {
		b.Error("a connection has ended")
	}
}

// play is one side of a ping-pong of n messages each way.
func (r *benchRank) play(n int, first bool) {
	data := make([]byte, 8)
	for range n {
		if first {
			r.send(data)
		}
		for r.got == 0 {
			r.eng.Lock()
			r.eng.Poll()
			r.eng.Unlock()
		}
		r.got--
		if !first {
			r.send(data)
		}
	}
}

func (r *benchRank) send(data []byte) {
	for sent := false; !sent; {
		r.eng.Lock()
		if sent = r.ep.Send(1, 2, data); !sent {
			r.eng.Poll()
		}
		r.eng.Unlock()
		if !sent {
			runtime.Gosched() // the connection is being made
		}
	}
}
