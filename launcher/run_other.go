//go:build !linux

package launcher

import (
	"context"
	"io"
	"os"
)

// Run isn't there yet on this system.
func Run(context.Context, Job) (Result, error) {
	return Result{Status: StatusInternal, Rank: -1}, &Error{Status: StatusInternal, Err: ErrUnsupported}
}

// DryRun isn't there yet on this system.
func DryRun(Job, io.Writer) error {
	return &Error{Status: StatusInternal, Err: ErrUnsupported}
}

// AllowedCores isn't there yet on this system.
func AllowedCores() (cores string, nodes []string, err error) { return "", nil, ErrUnsupported }

// ForwardedSignals are the signals to pass on to ranks.
func ForwardedSignals() []os.Signal { return []os.Signal{os.Interrupt} }
