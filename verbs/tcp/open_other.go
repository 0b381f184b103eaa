//go:build !linux

package tcp

import (
	"fmt"
	"runtime"

	"github.com/verbena-mpi/verbena/verbs"
)

// Device is a device of this package, of which this system has none.
type Device struct{ verbs.Device }

// Open fails on this system.
func Open(Config) (*Device, error) {
	return nil, fmt.Errorf("tcp: %w: it is written for Linux, and this is %s", verbs.ErrSupported, runtime.GOOS)
}

// Reaches says no on this system.
func Reaches([]byte) bool { return false }
