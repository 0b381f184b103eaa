//go:build linux

package jobtest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// witness is a pipe whose writing end all processes of a job inherit, and
// nobody else has: its end is the end of the last of them.
type witness struct {
	r, w  *os.File
	ended chan struct{}
	at    time.Time // when, after ended was closed
}

// witnessFD is the descriptor in the job's processes: higher than those that
// the launcher puts others in place of.
const witnessFD = 60

func newWitness(t *testing.T, cmd *exec.Cmd) *witness {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = make([]*os.File, witnessFD-3+1)
	cmd.ExtraFiles[witnessFD-3] = w
	return &witness{r: r, w: w, ended: make(chan struct{})}
}

// begin is called when the job has started, or hasn't.
func (w *witness) begin() {
	_ = w.w.Close()
	go func() {
		_, _ = w.r.Read(make([]byte, 1)) // nobody writes
		w.at = time.Now()
		_ = w.r.Close()
		close(w.ended)
	}()
}

// over says whether no process is left.
func (w *witness) over() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// holds says whether a process has the pipe.
func (w *witness) holds(pid int) bool {
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", pid, witnessFD))
	if err != nil {
		return false
	}
	ours, err := w.r.Stat()
	return err == nil && os.SameFile(ours, theirs)
}
