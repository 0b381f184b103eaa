package launcher

import (
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Run runs a job to its end. The error is nil if the job's ranks were started,
// whatever became of them: Result says that. If ctx ends, so does the job.
func Run(ctx context.Context, j Job) (Result, error) {
	none := Result{Status: StatusInternal, Rank: -1}
	if err := j.validate(); err != nil {
		return none, err
	}
	s, err := j.spec(ctx)
	if err != nil {
		return none, err
	}
	if len(s.Plan.remote()) > 0 {
		if err := s.remember(); err != nil {
			return none, err
		}
	}
	if s.builds() || len(s.Preload) > 0 {
		s.TempDir = filepath.Join(os.TempDir(), "verbrun-"+strconv.Itoa(os.Getpid())+"-"+token())
		defer func() { _ = os.RemoveAll(s.TempDir) }()
	}
	f, err := startSupervisor(&j)
	if err != nil {
		return none, fail(StatusInternal, "starting the supervisor: %w", err)
	}
	return f.run(ctx, &j, s)
}

// front is the caller's side of a running job.
type front struct {
	cmd  *exec.Cmd
	conn *os.File
}

func startSupervisor(j *Job) (*front, error) {
	if j.Solo {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return nil, err
		}
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirs.Close() }()
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{supervisorName}, ExtraFiles: []*os.File{theirs}}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.files()
	if err := cmd.Start(); err != nil {
		_ = ours.Close()
		return nil, err
	}
	if j.Solo {
		outrank() // after the start, or the supervisor would count from there
	}
	return &front{cmd: cmd, conn: ours}, nil
}

func (f *front) run(ctx context.Context, j *Job, s spec) (Result, error) {
	defer func() { _ = f.conn.Close() }()
	orders := gob.NewEncoder(f.conn)
	ended := make(chan struct{})
	passed := make(chan struct{})
	// An error of sending is the supervisor's death, which the reading side
	// finds out.
	go func() {
		defer close(passed)
		if orders.Encode(s) != nil {
			return
		}
		for {
			o := order{}
			select {
			case <-ended:
				return
			case <-ctx.Done():
				_ = orders.Encode(order{Cancel: true})
				return
			case sig := <-j.Signals:
				n, ok := sig.(syscall.Signal)
				if !ok {
					continue
				}
				o.Signal = int(n)
			}
			if orders.Encode(o) != nil {
				return
			}
		}
	}()
	var r Result
	err := gob.NewDecoder(f.conn).Decode(&r)
	close(ended)
	werr := f.wait()
	_ = f.conn.Close()
	<-passed
	if err != nil {
		if j.Solo {
			if len(s.Plan.remote()) > 0 {
				awaitOrphans(restGrace) // starters whose input has ended
			}
			sweepOrphans()
		}
		return Result{Status: StatusInternal, Rank: -1}, fail(StatusInternal, "the supervisor (pid %d) ended unexpectedly: %w", f.cmd.Process.Pid, orElse(werr, err))
	}
	return r, nil
}

// wait waits for a supervisor that has said its last word.
func (f *front) wait() error {
	t := time.AfterFunc(killGrace, func() { _ = f.cmd.Process.Kill() })
	defer t.Stop()
	return f.cmd.Wait()
}

func orElse(a, b error) error {
	if a != nil {
		return a
	}
	return fmt.Errorf("no result: %w", b)
}
