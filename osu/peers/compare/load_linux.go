package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/stat on all Linux systems that Go runs on.
const tick = 10 * time.Millisecond

// cpuTime is for how long CPUs 0 and 1 have been busy since the machine
// started, or taken away by the hypervisor; false means that it is not known.
func cpuTime() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	return parseCPUTime(string(text))
}

// parseCPUTime reads the lines of the two CPUs: user, nice, system, idle,
// iowait, irq, softirq, steal.
func parseCPUTime(text string) (time.Duration, bool) {
	var ticks int64
	var cpus int
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 9 || fields[0] != "cpu0" && fields[0] != "cpu1" {
			continue
		}
		cpus++
		for i, f := range fields[1:9] {
			if i == 3 || i == 4 {
				continue // idle, iowait
			}
			n, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return 0, false
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * tick, cpus == 2
}
