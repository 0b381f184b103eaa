//go:build linux

package jobtest

import (
	"fmt"
	"strings"
	"testing"
)

// More ranks than cores: pairs of them exchange messages to the end.
func TestPairs(t *testing.T) {
	for _, tt := range []struct {
		n, trips, size int
		env            string
	}{
		{8, rounds(3000, 100_000), 8, ""},
		{8, rounds(3000, 20_000), 8, "GOMAXPROCS=1"},
		{8, rounds(300, 5000), 64 << 10, ""},
		{8, rounds(300, 5000), 64 << 10, "VERBENA_RECV=peer"},
		{16, rounds(300, 5000), 8, ""},
	} {
		t.Run(fmt.Sprintf("%d ranks,%d B,%s", tt.n, tt.size, tt.env), func(t *testing.T) {
			s := spec{n: tt.n}
			if tt.env != "" {
				s.env = []string{tt.env}
			}
			j := s.start(t, "ranks", "pingpong", "-n", fmt.Sprint(tt.trips), "-size", fmt.Sprint(tt.size))
			if status := j.wait(); status != 0 || j.stdout.count("pair ") != tt.n/2 {
				t.Errorf("status %d", status)
			}
			for _, line := range j.stdout.lines() {
				if strings.HasPrefix(line, "pair ") {
					t.Log(line)
				}
			}
		})
	}
}
