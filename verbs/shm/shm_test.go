//go:build linux

package shm

import (
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/verbstest"
)

// harness opens devices of one process: they meet over the same sockets and
// segments as devices of several.
func harness(c Config) verbstest.Harness {
	return verbstest.Harness{
		Open: func(t testing.TB, n int) verbstest.Net {
			c := c
			c.MaxPeers = 64
			c.Memory = 64 << 20
			c.AllocMemory = 64 << 20
			c.ConnectTimeout = 2 * time.Second
			var net verbstest.Net
			for range n {
				d, err := Open(c)
				if err != nil {
					t.Fatal(err)
				}
				net.Devices = append(net.Devices, d)
			}
			nobody, err := Open(c)
			if err != nil {
				t.Fatal(err)
			}
			net.Nobody = nobody.Addr()
			if err := nobody.Close(); err != nil {
				t.Fatal(err)
			}
			net.Kill = func(i int) { net.Devices[i].(*Device).Die() }
			return net
		},
	}
}

func TestConformance(t *testing.T) {
	for _, w := range []Way{Auto, Stream, Copy} {
		t.Run(w.String(), func(t *testing.T) { verbstest.Run(t, harness(Config{Read: w})) })
	}
	t.Run("nocopy", func(t *testing.T) { verbstest.Run(t, harness(Config{NoSingleCopy: true})) })
}

var _ verbs.Allocator = (*Device)(nil)
