package main

import (
	"testing"
	"time"
)

func TestParseCPUTime(t *testing.T) {
	got, ok := parseCPUTime(`cpu  10 0 20 300 0 0 0 0 0 0
cpu0 1 2 3 100 50 4 5 6 0 0
cpu1 10 0 0 200 0 0 0 0 0 0
cpu2 999 0 0 0 0 0 0 0 0 0
intr 12
`)
	if want := 31 * 10 * time.Millisecond; !ok || got != want {
		t.Errorf("got %v, %v; want %v", got, ok, want)
	}
	for _, bad := range []string{"", "cpu0 1 2 3 4 5 6 7 8\n", "cpu0 1 2 3 4 5 6 7 x\ncpu1 1 2 3 4 5 6 7 8\n"} {
		if _, ok := parseCPUTime(bad); ok {
			t.Errorf("%q was understood", bad)
		}
	}
	if _, ok := cpuTime(); !ok {
		t.Skip("this machine's /proc/stat has no two CPUs")
	}
}

func TestMeterCountsOthersOnly(t *testing.T) {
	base := time.Now()
	m := meter{known: true, began: base, busy: 10 * time.Second}
	// In one second the CPUs were busy for 1.9 s, of which 1.5 were the run's.
	if got := m.share(base.Add(time.Second), 11900*time.Millisecond, 1500*time.Millisecond); got < 0.399 || got > 0.401 {
		t.Errorf("others took %v CPUs, want 0.4", got)
	}
	if got := m.share(base.Add(time.Second), 11*time.Second, 1500*time.Millisecond); got != 0 {
		t.Errorf("others took %v CPUs, want none", got)
	}
	if got := (meter{}).share(base, 0, 0); got != 0 {
		t.Errorf("unknown use counts as %v", got)
	}
}
