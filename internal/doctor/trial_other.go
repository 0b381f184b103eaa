//go:build !linux

package doctor

import "errors"

func copyTrial() error   { return errors.ErrUnsupported }
func memoryTrial() error { return errors.ErrUnsupported }
