//go:build linux

package jobtest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The ways in which one rank of a job can end, while the others wait for it in
// Recv.
var ends = []struct {
	how    string
	status int
	why    string // what the launcher says of the rank
	says   string // what the rank says on its standard error
}{
	{"error", 1, `called abort with status 1: nothing works`, `nothing works\nand this is why\n`},
	{"status", 7, `called abort with status 7: wrapped: seven is enough`, `wrapped: seven is enough\n`},
	{"silent", 9, `called abort with status 9`, ``},
	{"abort", 7, `called abort with status 7: seven is enough`, ``},
	{"panic", 2, `crashed at \S+ends.go:\d+: panic: all is lost`, `panic: all is lost\n`},
	{"goroutine", 2, `crashed at \S+ends.go:\d+: panic: all is lost elsewhere`, `panic: all is lost elsewhere\n`},
	{"nil", 2, `crashed at \S+ends.go:\d+: panic: runtime error: invalid memory address or nil pointer dereference`, `\[signal SIGSEGV`},
	{"map", 2, `crashed at \S+crash.go:\d+: fatal error: concurrent map (\w+ and map )?writes?`, `goroutine \d+`},
	{"exit", 3, `exited with status 3 after joining the job and before finalizing`, ``},
	{"exit0", 1, `exited with status 0 after joining the job and before finalizing`, ``},
	{"unclosed", 1, `exited with status 0 after joining the job and before finalizing`, ``},
}

// The status of a job is that of the rank that failed first, and not of those
// that fail because of it. All others end soon.
func TestEnds(t *testing.T) {
	for _, tt := range ends {
		for i := range rounds(3, 30) {
			t.Run(fmt.Sprint(tt.how, i), func(t *testing.T) {
				j := spec{n: 4}.start(t, "ranks", "end", tt.how)
				j.until("the end begins", func() bool { return j.stdout.count("ending") > 0 })
				begun := time.Now()
				j.reap()
				t.Logf("all gone after %v", j.gone(begun))
				if status := j.cmd.ProcessState.ExitCode(); status != tt.status {
					t.Errorf("status %d", status)
				}
				launcher := regexp.MustCompile(`(?m)^verbrun: rank 3 \(pid \d+\) ` + tt.why + `$`)
				if got := launcher.FindAllString(j.stderr.String(), -1); len(got) != 1 || j.stderr.count("verbrun: ") != 1 {
					t.Errorf("not said once: %v", launcher)
				}
				if !regexp.MustCompile(`(?m)^` + tt.says).MatchString(j.stderr.String()) {
					t.Errorf("not said: %s", tt.says)
				}
			})
			if t.Failed() {
				return
			}
		}
	}
}

// A program that is started alone is a world of one.
func TestAlone(t *testing.T) {
	j := spec{}.start(t, "ranks", "settings")
	if status := j.wait(); status != 0 || j.stdout.count(`rank 0 of 1, device ""`) != 1 {
		t.Errorf("status %d", status)
	}
	// What fails does so without a launcher, too.
	for _, tt := range ends {
		switch tt.how {
		case "unclosed", "exit0":
			continue // that is forgiven: there is nobody to mislead
		}
		j := spec{}.start(t, "ranks", "end", tt.how)
		if status := j.wait(); status != tt.status {
			t.Errorf("%s: status %d", tt.how, status)
		}
	}
}

// A program that finds traces of a launcher, and no way to reach it, does not
// take itself for a world of one.
func TestNoLauncher(t *testing.T) {
	for _, tt := range []struct{ env, want string }{
		{"PMI_SIZE=2", "verbrun -n N"},
		{"PMIX_RANK=0", "verbrun -n N"},
		{"OMPI_COMM_WORLD_SIZE=4", "verbrun -n N"},
		{"SLURM_STEP_NUM_TASKS=2", "srun --mpi=pmi2 -n N"},
	} {
		j := spec{env: []string{tt.env}}.start(t, "ranks", "settings")
		errs := ""
		if status := j.wait(); status == 1 {
			errs = j.stderr.String()
		}
		if !strings.Contains(errs, tt.env) || !strings.Contains(errs, tt.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: %q", tt.env, errs)
		}
		j = spec{env: []string{tt.env, "VERBENA_ALONE=1"}}.start(t, "ranks", "settings")
		if status := j.wait(); status != 0 {
			t.Errorf("%s, alone: status %d", tt.env, status)
		}
	}
	// A size of one is no contradiction.
	j := spec{env: []string{"PMI_SIZE=1"}}.start(t, "ranks", "settings")
	if status := j.wait(); status != 0 {
		t.Errorf("status %d", status)
	}
}
