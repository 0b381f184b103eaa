package sim_test

import (
	"testing"

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
	verbstest.Run(t, harness(sim.Config{Device: sim.DeviceConfig{
		Strict:         true,
		ConnectRetries: 20_000, // a goroutine may start long after the other, in steps
	}}))
}

func BenchmarkDevice(b *testing.B) { verbstest.Bench(b, harness(sim.Config{})) }
