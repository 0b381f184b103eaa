//go:build ibv && cgo && linux

package ibv

import (
	"net/netip"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/verbstest"
)

func TestConformance(t *testing.T) {
	openTest(t) // skips where there is no adapter
	verbstest.Run(t, verbstest.Harness{
		Open: func(t testing.TB, n int) verbstest.Net {
			net := verbstest.Net{Nobody: encodeAddr(deviceID{}, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")})}
			var devs []*device
			for range n {
				d, err := Open(Config{})
				if err != nil {
					t.Fatal(err)
				}
				devs = append(devs, d.(*device))
				net.Devices = append(net.Devices, verbs.Device(d))
			}
			net.Kill = func(i int) { devs[i].die() }
			return net
		},
		Limit: 60 * time.Second, // of an emulated processor, and of retries a timer tick apart
		Skip: map[string]string{
			"ArmNone":     "an adapter that is armed stays so until an event came",
			"PairMRClose": "a read whose registration goes in its middle ends with retries exceeded on soft-RoCE, not with a remote access error",
		},
	})
}

// die does what the kernel does for a process that is gone: no goodbye.
func (d *device) die() {
	d.mu.Lock()
	d.ending = true
	var links []*link
	for l := range d.links {
		links = append(links, l)
	}
	d.mu.Unlock()
	for _, l := range links {
		l.mu.Lock()
		l.gone = true
		if l.conn != nil {
			l.conn.Close()
		}
		l.mu.Unlock()
		l.wake()
	}
	_ = d.Close()
}
