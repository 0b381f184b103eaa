//go:build !linux

package meet

import "syscall"

// userTimeout: not on this system.
func (*tcp) userTimeout(string, string, syscall.RawConn) error { return nil }
