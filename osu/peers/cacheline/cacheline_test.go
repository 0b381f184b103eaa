package cacheline

import (
	"errors"
	"runtime"
	"testing"
)

func TestOneWay(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.NumCPU() < 2 {
		t.Skip("pinning to two CPUs needs Linux and two CPUs")
	}
	ns, err := OneWay(0, 1)
	if errors.Is(err, ErrBusy) {
		t.Skip("the CPUs are busy with something else")
	}
	if err != nil {
		t.Fatal(err)
	}
	// Between neighbouring cores some 10 ns pass, between sockets a few
	// hundred; a busy machine shows more, but never less.
	if ns < 2 || ns > 1e6 {
		t.Errorf("one way took %.1f ns, which no machine does", ns)
	}
}

func TestOneWayErrors(t *testing.T) {
	if _, err := OneWay(0, 0); err == nil {
		t.Error("one CPU given twice: no error")
	}
	for _, cpus := range [][2]int{{0, 1 << 20}, {1 << 20, 0}} {
		if _, err := OneWay(cpus[0], cpus[1]); err == nil {
			t.Errorf("CPUs %v: no error", cpus)
		}
	}
}
