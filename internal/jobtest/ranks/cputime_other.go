//go:build !linux

package main

import "time"

// cpuTime is how much CPU time this process has used; not known here.
func cpuTime() time.Duration { return 0 }
