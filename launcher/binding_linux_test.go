package launcher

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestBinding(t *testing.T) {
	var home unix.CPUSet
	if err := unix.SchedGetaffinity(0, &home); err != nil {
		t.Fatal(err)
	}
	n := home.Count()
	for _, c := range []struct {
		mode      Bind
		ranks     int
		bind, own bool
	}{
		{BindAuto, 1, true, true},
		{BindAuto, n, true, true},
		{BindAuto, n + 1, false, false},
		{BindCore, n + 1, true, false},
		{BindNone, 1, false, false},
		{BindNUMA, 1, true, false},
	} {
		b, err := newBinding(c.ranks, c.mode)
		if err != nil {
			t.Fatal(err)
		}
		last := b.seats[len(b.seats)-1]
		if b.own != c.own || len(b.cores) != n || len(b.seats) != c.ranks || (last != nil) != c.bind {
			t.Errorf("%+v: %+v", c, b)
		}
		if c.mode == BindCore && last[0] != b.cores[0] { // counted round
			t.Errorf("%+v: %+v", c, b)
		}
	}
}

func TestNUMANodes(t *testing.T) {
	sys := t.TempDir()
	for node, list := range map[string]string{"node0": "0-3,8-9\n", "node1": "4-7,10-11\n", "node2": "\n", "power": "0-11\n"} {
		if err := os.Mkdir(filepath.Join(sys, node), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sys, node, "cpulist"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		sys   string
		cores []int
		want  [][]int
	}{
		{sys, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, [][]int{{0, 1, 2, 3, 8}, {4, 5, 6, 7}}},
		{sys, []int{5, 11}, [][]int{{5, 11}}},
		{sys, []int{1, 10, 12}, [][]int{{1}, {10}, {12}}},
		{sys + "/none", []int{0, 1}, [][]int{{0, 1}}},
	} {
		got := numaNodes(c.sys, c.cores)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%v: (-want +got)\n%s", c.cores, d)
		}
		for _, core := range c.cores {
			if len(nodeOf(got, core)) == 0 {
				t.Errorf("%v: core %d has no node", c.cores, core)
			}
		}
	}
}
