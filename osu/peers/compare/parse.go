package main

import (
	"fmt"
	"strconv"
	"strings"
)

// parseOutput returns the value of one size's row in a table.
func parseOutput(out string, size int) (float64, error) {
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != strconv.Itoa(size) {
			continue
		}
		v, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || v < 0 {
			return 0, fmt.Errorf("the row %q has no figure", strings.TrimSpace(line))
		}
		return v, nil
	}
	return 0, fmt.Errorf("no row for %d bytes in %q", size, out)
}

// parseCPUs returns the CPUs that a program says its ranks are pinned to.
func parseCPUs(out string) string {
	for line := range strings.Lines(out) {
		if cpus, ok := strings.CutPrefix(line, "# CPUs: "); ok {
			return strings.TrimSpace(cpus)
		}
	}
	return "unknown"
}
