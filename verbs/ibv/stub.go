//go:build !ibv || !cgo || !linux

package ibv

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// Open reports that this program has no support for adapters.
func Open(Config) (verbs.Device, error) {
	return nil, fmt.Errorf("verbs/ibv: not built with ibv (needs cgo and -tags ibv): %w", verbs.ErrSupported)
}
