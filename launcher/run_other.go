//go:build !linux

package launcher

import (
	"context"
	"os"
)

// Run isn't there yet on this system.
func Run(context.Context, Job) (Result, error) {
	return Result{Status: StatusInternal, Rank: -1}, &Error{Status: StatusInternal, Err: ErrUnsupported}
}

// ForwardedSignals are the signals to pass on to ranks.
func ForwardedSignals() []os.Signal { return []os.Signal{os.Interrupt} }
