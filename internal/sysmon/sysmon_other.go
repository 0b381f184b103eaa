//go:build !linux

package sysmon

import "errors"

// Batch can't be done here.
func Batch() error { return errors.ErrUnsupported }
