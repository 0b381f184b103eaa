//go:build !linux

package cacheline

import (
	"errors"
	"fmt"
	"runtime"
)

func pin(int) error {
	return fmt.Errorf("cacheline: pinning threads on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
