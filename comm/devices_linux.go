package comm

import (
	"fmt"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/inproc"
	"github.com/verbena-mpi/verbena/verbs/shm"
)

// This is the list of devices.

// Devices are the names of the devices that ranks of this system can talk over, the
// one that is chosen first. The last is only for ranks that are goroutines of one
// process.
func Devices() []string { return []string{"shm", inproc.Name} }

// readWay is how large messages are read within a host.
type readWay = shm.Way

func parseWay(s string) (readWay, error) { return shm.ParseWay(s) }

func openDevice(s settings, ranks int, local *bootstrap.Local) (verbs.Device, error) {
	name := ""
	if local != nil {
		name = local.Device
	}
	switch name {
	case "", "shm":
		return shm.Open(shm.Config{MaxPeers: ranks, Read: s.Read.value})
	case inproc.Name:
		return local.Shared(func() any { return inproc.New() }).(*inproc.Network).Open(), nil
	}
	return nil, fmt.Errorf("no device %q: this system has %q", name, Devices())
}

func reaches(addr []byte) bool { return shm.Reaches(addr) || inproc.Reaches(addr) }

// machine is the same for two ranks exactly when they can share memory.
func machine() []byte { return shm.Machine() }
