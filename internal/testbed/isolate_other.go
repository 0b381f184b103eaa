//go:build !linux

package testbed

import (
	"errors"
	"syscall"
)

// able says why this process can't make namespaces. So nobody gets to the rest
// of this file.
func able() error { return errors.New("not Linux") }

func isolated(bool) *syscall.SysProcAttr { panic("testbed: not Linux") }

func died(int) { panic("testbed: not Linux") }

// In calls f on a thread that is in the host's net namespace: the sockets that f
// itself makes are the host's, those of other goroutines that it starts are not.
func (b *Bed) In(int, func()) { panic("testbed: not Linux") }
