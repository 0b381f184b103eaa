//go:build !linux

package pin

import (
	"errors"
	"fmt"
	"runtime"
)

// Thread can't be done here.
func Thread(int) error {
	return fmt.Errorf("pin: threads on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
