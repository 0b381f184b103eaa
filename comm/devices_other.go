//go:build !linux

package comm

import (
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/inproc"
)

// On other systems than Linux there is no device between processes yet: a world of
// one works, and one of goroutines.

// Devices are the names of the devices that ranks of this system can talk over, the
// one that is chosen first. The last is only for ranks that are goroutines of one
// process.
func Devices() []string { return []string{inproc.Name} }

type readWay uint8

func (readWay) String() string { return "auto" }

func parseWay(s string) (readWay, error) {
	if s != "auto" {
		return 0, fmt.Errorf("%q: this system has no ways of reading to choose from", s)
	}
	return 0, nil
}

func openDevice(_ settings, _ int, local *bootstrap.Local) (verbs.Device, error) {
	switch {
	case local == nil:
		return nil, errors.New("this system has no device between ranks yet: only Linux has")
	case local.Device == "" || local.Device == inproc.Name:
		return local.Shared(func() any { return inproc.New() }).(*inproc.Network).Open(), nil
	}
	return nil, fmt.Errorf("no device %q: this system has %q", local.Device, Devices())
}

func reaches(addr []byte) bool { return inproc.Reaches(addr) }

func machine() []byte { return nil }
