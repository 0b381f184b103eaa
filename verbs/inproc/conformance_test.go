package inproc

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/verbstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	verbstest.Run(t, verbstest.Harness{Open: func(_ testing.TB, n int) verbstest.Net {
		nw := New()
		nw.timeout = 200 * time.Millisecond
		net := verbstest.Net{
			Nobody: address(n + 7),
			Woken:  func(d verbs.Device) bool { return d.(*Device).woken() },
			Kill:   func(i int) { nw.devices[i].Die() },
		}
		for range n {
			net.Devices = append(net.Devices, nw.Open())
		}
		return net
	}})
}

// woken says what a descriptor's readiness would: an armed event has happened, and
// its queue was not polled or armed since.
func (d *Device) woken() bool {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	for _, cq := range d.cqs {
		if cq.fired {
			if len(d.wake) == 0 {
				panic("fired, and not rung")
			}
			return true
		}
	}
	return false
}
