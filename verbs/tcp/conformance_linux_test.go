package tcp

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs/verbstest"
)

// harness opens devices of one process: they meet over loopback.
func harness(c Config, tune tuning) verbstest.Harness {
	return verbstest.Harness{
		Open: func(t testing.TB, n int) verbstest.Net {
			c := c
			c.Timeout, c.Secret, c.Net = 2*time.Second, job, "lo"
			net := verbstest.Net{Unsifted: true}
			for range n {
				d, err := open(c, tune)
				if err != nil {
					t.Fatal(err)
				}
				net.Devices = append(net.Devices, d)
			}
			nobody, err := open(c, tune)
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
	for _, c := range []struct {
		name string
		Config
		tune tuning
		skip map[string]string
	}{
		{"plain", Config{}, normal, nil},
		{"tls", Config{TLS: true}, normal, nil},
		// Most messages take slots, and buffers are always full.
		{"small", Config{}, tuning{inlineRecv: 64, buffer: 256, recvMost: 160, sendBuffer: 48 << 10}, cramped},
		{"pieces", Config{}, tuning{inlineRecv: 700, buffer: 2048, recvMost: 512, part: pieces}, cut},
		{"tlspieces", Config{TLS: true}, tuning{inlineRecv: 700, buffer: 2048, recvMost: 512, part: pieces}, cut},
	} {
		t.Run(c.name, func(t *testing.T) {
			if raceEnabled && c.skip != nil {
				t.Skip("it takes long, and where calls are cut is no matter of races")
			}
			h := harness(c.Config, c.tune)
			h.Skip = c.skip
			verbstest.Run(t, h)
		})
	}
}

const roomless = "what is under way doesn't fit into the sockets: Close gives a peer up that reads nothing, goodbye and all"

// What can't be passed with little room.
var (
	cramped = map[string]string{
		"ModelClose":     roomless,
		"CloseDuringUse": roomless,
	}
	cut = map[string]string{
		"ModelClose":       roomless,
		"CloseDuringUse":   roomless,
		"ArmSendSolicited": "the rest of a write that was cut short waits for the socket, which has room at once",
	}
)

// pieces cuts what a call moves: mostly to a few bytes.
func pieces(n int) int {
	if rand.IntN(4) == 0 {
		return n
	}
	return min(n, 1+rand.IntN(1<<rand.IntN(14)))
}
