package hosttest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/testbed"
	"github.com/verbena-mpi/verbena/internal/testbuild"
)

// hosts are three hosts that reach each other by ssh.
type hosts struct {
	t *testing.T
	b *testbed.Bed
}

const three = "h0,h1,h2" // a rank for each

// verbrun starts a job on host 0.
func (h hosts) verbrun(args ...string) *job {
	h.t.Helper()
	return begin(h.t, h.b, []*exec.Cmd{h.command(args...)})
}

func (h hosts) command(args ...string) *exec.Cmd {
	cmd := h.b.Command(0, "verbrun", args...)
	cmd.Env = environ()
	cmd.Dir = h.t.TempDir()
	return cmd
}

// shell runs a script as each rank.
func (h hosts) shell(script string) *job {
	h.t.Helper()
	return h.verbrun("--host", three, "sh", "-c", script)
}

// statuses are those of several jobs.
func statuses(jobs ...*job) string {
	var s []string
	for _, j := range jobs {
		s = append(s, fmt.Sprint(j.wait()))
	}
	return strings.Join(s, " / ")
}

// soon is what to say of something that took so long.
func soon(took time.Duration) string {
	if took < 5*time.Second {
		return "at once"
	}
	return fmt.Sprintf("after %v", took)
}

// others are the rows of the table of what other launchers do: each is what
// verbrun does, in the words of its column.
var others = map[string]func(h hosts) string{
	"ranks exit with 0, 1 and 2": func(h hosts) string {
		return statuses(h.shell(`sleep 0.$PMI_RANK; exit $PMI_RANK`))
	},
	"SEGV, KILL, a missing program": func(h hosts) string {
		const last = `test $PMI_RANK = 2 || exec sleep 30; `
		return statuses(h.shell(last+`kill -SEGV $$`), h.shell(last+`kill -KILL $$`), h.verbrun("--host", three, "no-such-program"))
	},
	"a missing folder, the time limit": func(h hosts) string {
		return statuses(h.verbrun("--host", three, "--wdir", "/no/such", "true"), h.verbrun("--host", three, "--timeout", "1s", "sleep", "30"))
	},
	"a name that doesn't resolve": func(h hosts) string {
		j := h.verbrun("--host", "h0,nowhere.invalid", "true")
		status := j.wait()
		return fmt.Sprintf("%d %s", status, soon(time.Since(j.started)))
	},
	"exit 0 after Init, before Close": func(h hosts) string {
		j := h.verbrun("--host", three, filepath.Join(bin, "ranks"), "end", "exit0")
		status := j.wait()
		return fmt.Sprintf("%d %s", status, soon(time.Since(j.started)))
	},
	"a peer has finalized, and I wait in Recv": func(h hosts) string {
		j := h.verbrun("--host", three, filepath.Join(bin, "ranks"), "survive", "close")
		if status := j.wait(); status != 0 || strings.Count(j.stdout(), "survived\n") != 2 {
			return fmt.Sprintf("status %d", status)
		}
		return "`ErrFinished`"
	},
	"KILL to the launcher": func(h hosts) string {
		dir := h.t.TempDir()
		j := h.verbrun("--host", three, filepath.Join(bin, "ranks"), "exchange", "-dir", dir)
		j.until("all ranks run", func() bool { return words{h.t, dir, 3}.all("running") })
		launchers := j.running(0, "verbrun")
		first := slices.MinFunc(launchers, func(a, b testbed.Process) int { return a.Pid - b.Pid })
		killed := time.Now()
		_ = syscall.Kill(first.Pid, syscall.SIGKILL)
		j.wait()
		if took := time.Since(killed); took > 5*time.Second {
			return fmt.Sprintf("ranks are there for %v", took)
		}
		for host := range 3 {
			if left, err := h.b.Command(host, "ls", "-A", "/dev/shm").CombinedOutput(); err != nil || len(left) > 0 {
				return fmt.Sprintf("in /dev/shm: %s (%v)", left, err)
			}
		}
		return "nothing is left"
	},
	"INT to the launcher": func(h hosts) string {
		j := h.shell(`trap 'echo INT; exit 0' INT; trap 'echo TERM; exit 0' TERM; echo up; while :; do sleep 0.05; done`)
		j.until("all are up", func() bool { return strings.Count(j.stdout(), "up\n") == 3 })
		j.signal(syscall.SIGINT)
		j.wait()
		if strings.Count(j.stdout(), "INT\n") != 3 {
			return j.stdout()
		}
		return "ranks get INT"
	},
	"1 MiB on standard input": func(h hosts) string {
		in := make([]byte, 1<<20)
		_, _ = rand.Read(in)
		cmd := h.command("--host", "h1,h2", "sh", "-c", `test $PMI_RANK = 1 || sha256sum`)
		cmd.Stdin = bytes.NewReader(in)
		j := begin(h.t, h.b, []*exec.Cmd{cmd})
		j.wait()
		if want := fmt.Sprintf("%x  -\n", sha256.Sum256(in)); j.stdout() != want {
			return j.stdout()
		}
		return "intact"
	},
	"standard input of other ranks": func(h hosts) string {
		cmd := h.command("--host", three, "sh", "-c", `cat; echo $PMI_RANK`)
		cmd.Stdin = strings.NewReader("line\n")
		j := begin(h.t, h.b, []*exec.Cmd{cmd})
		status := j.wait()
		lines := strings.Fields(j.stdout())
		slices.Sort(lines)
		if status != 0 || !slices.Equal(lines, []string{"0", "1", "2", "line"}) {
			return fmt.Sprintf("status %d, %q", status, lines)
		}
		return "at its end"
	},
	"80,000 short lines of 4 ranks": func(h hosts) string {
		j := h.verbrun("--host", "h0,h1:2,h2", "sh", "-c", `i=0; while [ $i -lt 20000 ]; do echo "rank $PMI_RANK line $i end"; i=$((i + 1)); done`)
		if status := j.wait(); status != 0 {
			return fmt.Sprintf("status %d", status)
		}
		next, broken := map[string]int{}, 0
		for line := range strings.Lines(j.stdout()) {
			var rank string
			var i int
			if _, err := fmt.Sscanf(line, "rank %s line %d end\n", &rank, &i); err != nil || i != next[rank] {
				broken++
			}
			next[rank]++
		}
		return fmt.Sprintf("%d broken", broken+80_000-strings.Count(j.stdout(), "\n"))
	},
	"start and end, 2 / 16 ranks": func(h hosts) string {
		var words []string
		for _, tt := range []struct {
			ranks string
			limit time.Duration
		}{{"2", time.Second}, {"16", 2 * time.Second}} {
			best := time.Hour
			for range 3 {
				j := h.verbrun("-n", tt.ranks, filepath.Join(bin, "ring"))
				if status := j.wait(); status != 0 {
					return fmt.Sprintf("status %d", status)
				}
				best = min(best, time.Since(j.started))
			}
			h.t.Logf("%s ranks: %v", tt.ranks, best)
			if best < tt.limit || testbuild.Race {
				words = append(words, fmt.Sprintf("under %v", tt.limit))
			} else {
				words = append(words, best.String())
			}
		}
		return strings.Join(words, " / ")
	},
}

var otherRow = regexp.MustCompile(`(?m)^\| ([^|]*) \| ([^|]*) \| [^|]* \| [^|]* \|$`)

// Each row of the documented table is so, and each case here is documented.
func TestOthersTable(t *testing.T) {
	b := lab(t, 3, "sshd")
	seen := map[string]bool{}
	for _, m := range otherRow.FindAllStringSubmatch(section(t, "What other launchers do"), -1) {
		name, want := m[1], m[2]
		if name == "case" || strings.HasPrefix(name, "---") {
			continue
		}
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			does, ok := others[name]
			if !ok {
				t.Fatal("no test for this row")
			}
			if got := does(hosts{t, b}); got != want {
				t.Errorf("%s, documented as %s", got, want)
			}
		})
	}
	for name := range others {
		if !seen[name] {
			t.Errorf("not documented: %s", name)
		}
	}
}

// section is what docs/HOSTS.md has under a title.
func section(t *testing.T, title string) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/HOSTS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(doc), "\n## "+title+"\n")
	if !ok {
		t.Fatalf("docs/HOSTS.md has no %q", title)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}
