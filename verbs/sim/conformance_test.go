package sim_test

import (
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
	"github.com/verbena-mpi/verbena/verbs/verbstest"
)

// harness opens devices on a network of their own.
func harness(cfg sim.Config) verbstest.Harness {
	return verbstest.Harness{
		Open: func(_ testing.TB, n int) verbstest.Net {
			nw := sim.New(cfg)
			var sims []*sim.Device
			net := verbstest.Net{
				Step:   func() { nw.Step() },
				Woken:  func(d verbs.Device) bool { return d.(*sim.Device).Woken() },
				Nobody: append([]byte("sim:"), 0xff, 0xff, 0xff, 0),
				Kill:   func(i int) { nw.Kill(sims[i]) },
			}
			for range n {
				d := nw.NewDevice()
				sims = append(sims, d)
				net.Devices = append(net.Devices, d)
			}
			return net
		},
		Skip: map[string]string{},
	}
}

func TestConformance(t *testing.T) {
	verbstest.Run(t, harness(sim.Config{}))
}

// The suite passes where packets are lost and delayed at random, too.
func TestConformanceLossy(t *testing.T) {
	if testing.Short() {
		t.Skip("the perfect network is enough for a short test")
	}
	h := harness(sim.Config{
		Link:   sim.Link{Delay: 3 * time.Microsecond, Jitter: 20 * time.Microsecond, Bandwidth: 1e9, Loss: 0.02},
		Device: sim.DeviceConfig{Retries: 1000, RetryTimer: 50 * time.Microsecond, ReadChunk: 64 << 10, NoRegistration: true},
	})
	verbstest.Run(t, h)
}

func BenchmarkDevice(b *testing.B) { verbstest.Bench(b, harness(sim.Config{})) }
