//go:build !linux

package meet

import "syscall"

// userTimeout: not on this system.
func userTimeout(string, string, syscall.RawConn) error { return nil }
