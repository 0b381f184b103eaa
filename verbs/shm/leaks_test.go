//go:build linux

package shm

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// After all tests no goroutine, descriptor or mapping of a device may be left.
func TestMain(m *testing.M) {
	d, err := Open(Config{}) // the runtime's poller, too, has a descriptor from now on
	if err != nil {
		panic(err)
	}
	if err := d.Close(); err != nil {
		panic(err)
	}
	descriptors, mappings := len(ourDescriptors()), len(ourMappings())
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		removeVictim()
		for _, v := range []struct {
			what string
			list []string
			want int
		}{
			{"descriptors", ourDescriptors(), descriptors},
			{"mappings", ourMappings(), mappings},
		} {
			if code == 0 && len(v.list) != v.want {
				fmt.Fprintf(os.Stderr, "%d %s are left, there were %d:\n%s\n", len(v.list), v.what, v.want, strings.Join(v.list, "\n"))
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// ourDescriptors are the descriptors of kinds that devices open: sockets,
// segments, bells, descriptors of processes.
func ourDescriptors() (list []string) {
	const dir = "/proc/self/fd/"
	names, err := os.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	for _, e := range names {
		to, err := os.Readlink(dir + e.Name())
		if err != nil {
			continue // the directory's own
		}
		for _, kind := range []string{"socket:", "pipe:", "/memfd:verbena", "anon_inode:[pidfd]", "pidfd:", "anon_inode:[eventfd]"} {
			if strings.HasPrefix(to, kind) {
				list = append(list, e.Name()+" "+to)
			}
		}
	}
	return list
}

// ourMappings are the mapped segments.
func ourMappings() (list []string) {
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "/memfd:") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}
