package comm

import (
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/inproc"
	"github.com/verbena-mpi/verbena/verbs/shm"
	"github.com/verbena-mpi/verbena/verbs/tcp"
)

// deviceKinds is the list of devices, the one that is chosen first.
var deviceKinds = []deviceKind{
	{name: "shm", near: true, reaches: shm.Reaches, open: func(o opening) (verbs.Device, error) {
		return shm.Open(shm.Config{MaxPeers: o.ranks, Read: o.settings.Read.value})
	}},
	{name: tcp.Name, reaches: tcp.Reaches, open: func(o opening) (verbs.Device, error) {
		return tcp.Open(tcp.Config{
			Secret: o.secret, Net: o.settings.Net.value, TLS: o.settings.TLS.value,
			Timeout: o.settings.PeerTimeout.value, Congestion: o.settings.Congestion.value, Log: o.log,
		})
	}},
	{name: inproc.Name, inside: true, reaches: inproc.Reaches, open: func(o opening) (verbs.Device, error) {
		return o.local.Shared(func() any { return inproc.New() }).(*inproc.Network).Open(), nil
	}},
}

// readWay is how large messages are read within a host.
type readWay = shm.Way

func parseWay(s string) (readWay, error) { return shm.ParseWay(s) }

// machine is the same for two ranks exactly when they can share memory.
func machine() []byte { return shm.Machine() }
