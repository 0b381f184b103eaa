package sysmon

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The thread that gets the policy is the monitor: no other thread of the runtime
// sleeps by nanosleep again and again while a goroutine computes.
func TestBatch(t *testing.T) {
	if err := Batch(); err != nil {
		t.Fatal(err)
	}
	tid, err := thread(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	attr, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		t.Fatal(err)
	}
	if attr.Policy != unix.SCHED_BATCH {
		t.Errorf("policy %d", attr.Policy)
	}
	name := fmt.Sprintf("/proc/self/task/%d/syscall", tid)
	if _, err := os.ReadFile(name); err != nil {
		t.Skipf("the system doesn't say what a thread does: %v", err)
	}
	want := fmt.Sprintf("%d ", unix.SYS_NANOSLEEP)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if b, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(b), want) {
			return
		}
	}
	t.Error("the thread never sleeps: not the monitor")
}
