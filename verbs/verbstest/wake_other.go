//go:build !linux

package verbstest

import "errors"

// canPoll says that readable works.
const canPoll = false

func readable([]int) (bool, error) { return false, errors.ErrUnsupported }
