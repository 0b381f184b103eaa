package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// resident is this process's memory in bytes, and peak the most that it has been. Where the
// system doesn't say, both are what the Go runtime has taken of it.
func resident() int64 { return status("VmRSS:") }

func peak() int64 { return status("VmHWM:") }

func status(name string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			var kib int64
			if n, _ := fmt.Sscanf(line, name+" %d kB", &kib); n == 1 {
				return kib << 10
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
