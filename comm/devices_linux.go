package comm

import (
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/shm"
)

// This is the list of devices.

// readWay is how large messages are read within a host.
type readWay = shm.Way

func parseWay(s string) (readWay, error) { return shm.ParseWay(s) }

func openDevice(s settings, ranks int) (verbs.Device, error) {
	return shm.Open(shm.Config{MaxPeers: ranks, Read: s.Read.value})
}

func reaches(addr []byte) bool { return shm.Reaches(addr) }

// machine is the same for two ranks exactly when they can share memory.
func machine() []byte { return shm.Machine() }
