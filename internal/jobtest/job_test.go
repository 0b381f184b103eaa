//go:build linux

package jobtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// spec says what to run.
type spec struct {
	n     int      // ranks; 0: the program alone, without a launcher
	flags []string // the launcher's
	env   []string
	cpus  int // how many CPUs the job may use; 0: all
	limit time.Duration
}

// job is a job, running or ended.
type job struct {
	t        *testing.T
	cmd      *exec.Cmd
	stdout   output
	stderr   output
	tmp      string          // its TMPDIR
	shm      map[string]bool // what was in /dev/shm before
	witness  *witness
	asked    map[int]bool // pids that were looked for
	seen     []rank
	limit    time.Duration
	started  time.Time
	overtime *time.Timer
	ended    bool
}

// usual is the limit of a job that has none of its own.
const usual = 60 * time.Second

// start starts the program, one of those that were built, or any by its path.
func (s spec) start(t *testing.T, program string, args ...string) *job {
	t.Helper()
	j := &job{t: t, tmp: t.TempDir(), shm: sharedFiles(), asked: map[int]bool{}, limit: s.limit}
	if j.limit == 0 {
		j.limit = usual
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(bin, program)
	}
	argv := append([]string{program}, args...)
	if s.n > 0 {
		argv = slices.Concat([]string{filepath.Join(bin, "verbrun"), "-n", strconv.Itoa(s.n)}, elsewhere(t), s.flags, argv)
	}
	j.cmd = exec.Command(argv[0], argv[1:]...)
	j.cmd.Env = append(environ(), append([]string{"TMPDIR=" + j.tmp}, s.env...)...)
	j.cmd.Stdout, j.cmd.Stderr = &j.stdout, &j.stderr
	j.cmd.WaitDelay = 5 * time.Second
	// In case this process is killed.
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	j.witness = newWitness(t, j.cmd)
	j.started = time.Now()
	err := confined(s.cpus, j.cmd.Start)
	j.witness.begin() // also if it did not start
	if err != nil {
		t.Fatal(err)
	}
	j.overtime = time.AfterFunc(j.limit, j.interrupt)
	t.Cleanup(j.cleanUp)
	return j
}

// environ is this process's environment without what speaks to ranks.
func environ() []string {
	env := []string{"GORACE=atexit_sleep_ms=0"} // or each rank sleeps a second when it ends
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		prefix, _, _ := strings.Cut(name, "_")
		switch prefix {
		case "VERBENA", "PMI", "PMIX", "OMPI", "SLURM", "GOMAXPROCS", "GORACE":
		default:
			env = append(env, kv)
		}
	}
	return env
}

// interrupt ends a job that takes too long: first so that it shows where.
func (j *job) interrupt() {
	_ = j.cmd.Process.Signal(syscall.SIGQUIT)
	time.AfterFunc(3*time.Second, func() { _ = j.cmd.Process.Kill() })
}

// cleanUp leaves nothing behind, and shows what a job printed if its test
// failed.
func (j *job) cleanUp() {
	j.overtime.Stop()
	if !j.ended {
		_ = j.cmd.Process.Kill()
		_ = j.cmd.Wait()
	}
	for _, r := range j.ranks() {
		_ = r.process.Kill()
	}
	if j.t.Failed() {
		j.t.Logf("%v, %v\n--- stdout:\n%s--- stderr:\n%s", j.cmd.Args, j.cmd.ProcessState, j.stdout.String(), j.stderr.String())
	}
}

// wait waits for the job's end and returns its exit status. Nothing of it may
// be left then.
func (j *job) wait() int {
	j.t.Helper()
	j.reap()
	if time.Since(j.started) > j.limit {
		j.t.Errorf("not done after %v", j.limit)
	}
	j.gone(time.Now())
	return j.cmd.ProcessState.ExitCode()
}

// reap waits for the process that was started, and for what it printed.
func (j *job) reap() {
	j.t.Helper()
	if j.ended {
		return
	}
	err := j.cmd.Wait()
	j.ended = true
	j.overtime.Stop()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		j.t.Error(err)
	}
}

// until polls for something about a running job.
func (j *job) until(what string, ok func() bool) {
	j.t.Helper()
	for !ok() {
		if j.witness.over() { // also when it took too long
			j.reap()
			if !ok() {
				j.t.Fatalf("didn't happen: %s", what)
			}
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// output is what a job prints, to look into meanwhile.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.NewReplacer(" on "+otherHosts[0], "", " on "+otherHosts[1], "").Replace(o.b.String())
}

func (o *output) lines() []string {
	return strings.Split(strings.TrimSuffix(o.String(), "\n"), "\n")
}

// count is how many lines begin like this.
func (o *output) count(prefix string) int {
	n := 0
	for _, line := range o.lines() {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}
