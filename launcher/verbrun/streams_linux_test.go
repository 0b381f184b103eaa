package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Lines of four ranks on both streams come whole, complete and in order, also
// where both streams are one, tagged or not.
func TestWholeLines(t *testing.T) {
	const size, n = 4, 100_000
	for _, tagged := range []bool{false, true} {
		t.Run(fmt.Sprint("tagged=", tagged), func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "out")
			f, err := os.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			j := prepareRanks(t, fmt.Sprint("lines:", n), "-n", fmt.Sprint(size), fmt.Sprint("--tag-output=", tagged))
			j.cmd.Stdout, j.cmd.Stderr = f, f
			if status := j.start().wait(); status != 0 {
				t.Fatal("status", status)
			}
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			next := numbers(t, string(b), tagged)
			for r := range size {
				if out, errs := next[fmt.Sprint(r)], next[fmt.Sprint("e", r)]; out != n || errs != n/10 {
					t.Errorf("rank %d: %d and %d lines", r, out, errs)
				}
			}
		})
	}
}

// numbers checks lines that writeLines wrote, and counts each stream's.
func numbers(t *testing.T, text string, tagged bool) map[string]int {
	t.Helper()
	next := map[string]int{}
	for line := range strings.Lines(text) {
		tag, rest, found := strings.Cut(line, " ")
		if !tagged {
			rest = line
		}
		inner, ok1 := strings.CutPrefix(rest, "<")
		inner, ok2 := strings.CutSuffix(inner, ">\n")
		f := strings.SplitN(inner, " ", 3)
		if !found || !ok1 || !ok2 || len(f) != 3 || strings.ContainsAny(inner, "<>[") {
			t.Fatalf("broken: %q", line)
		}
		if tagged && tag != "["+strings.TrimPrefix(f[0], "e")+"]" {
			t.Fatalf("wrong tag: %q", line)
		}
		if i, err := strconv.Atoi(f[1]); err != nil || i != next[f[0]] {
			t.Fatalf("%q: expected number %d of %s", line, next[f[0]], f[0])
		}
		next[f[0]]++
	}
	return next
}

// To the byte, with and without a last newline.
func TestExact(t *testing.T) {
	for _, text := range []string{"", "x", "x\n", "x\ny", "\n\n", "\x00\xff\r\n\t"} {
		j := prepare(t, []string{"TEXT=" + text}, "-n", "1", "sh", "-c", `printf %s "$TEXT"; printf %s "$TEXT" >&2`)
		if strings.Contains(text, "\x00") {
			text = "\r\xff\n\t"
			j = prepare(t, nil, "-n", "1", "sh", "-c", `printf '\r\377\n\t' | tee /dev/stderr`)
		}
		if status := j.start().wait(); status != 0 || j.out.String() != text || j.err.String() != text {
			t.Errorf("%q: %d, %q, %q", text, status, j.out.String(), j.err.String())
		}
	}
	// Several ranks' unfinished lines don't run together.
	status, out, _ := ranks(t, "exact:hello", "-n", "3")
	if status != 0 || out != "hello\nhello\nhello" {
		t.Errorf("%d, %q", status, out)
	}
}

// Long lines come whole up to a mebibyte, and beyond it nothing is lost.
func TestLongLines(t *testing.T) {
	for _, n := range []int{70_000, 1<<20 - 1, 5 << 20} {
		status, out, errs := ranks(t, fmt.Sprint("long:", n), "-n", "2")
		if status != 0 || errs != "" {
			t.Errorf("%d: %d, %q", n, status, errs)
		}
		for _, c := range []string{"a", "b"} {
			if got := strings.Count(out, c); got != n {
				t.Errorf("%d: %d of %s", n, got, c)
			}
			if n <= 1<<20 && !strings.Contains(out, strings.Repeat(c, n)+"\n") {
				t.Errorf("%d: the line of %s is broken", n, c)
			}
		}
	}
}

// What a rank wrote before it died arrives, and before the launcher's word.
func TestLastWords(t *testing.T) {
	script := `i=0; while [ $i -lt 2000 ]; do echo line $i; echo line $i >&2; i=$((i+1)); done; printf end >&2; kill -KILL $$`
	status, out, errs := verbrun(t, "-n", "1", "sh", "-c", script)
	if status != 137 || strings.Count(out, "\n") != 2000 || strings.Count(errs, "line") != 2000 || !strings.Contains(errs, "line 1999\nend\nverbrun: rank 0 (pid ") {
		t.Errorf("%d, %d lines, %d lines, %.200s", status, strings.Count(out, "\n"), strings.Count(errs, "\n"), errs[max(0, len(errs)-200):])
	}
}

// What all ranks wrote before one of them aborted arrives.
func TestLastWordsOfAll(t *testing.T) {
	status, out, errs := ranks(t, "abort lines:1", "-n", "3", "--tag-output")
	body, line, _ := strings.Cut(errs, "verbrun: ")
	if status != 7 || !strings.HasPrefix(line, "rank 1 (pid ") {
		t.Errorf("%d, %q", status, line)
	}
	next := numbers(t, out+body, true)
	for r := range 3 {
		if n, e := next[fmt.Sprint(r)], next[fmt.Sprint("e", r)]; n != 2000 || e != 200 {
			t.Errorf("rank %d: %d and %d lines", r, n, e)
		}
	}
}

// A process that isn't of the job holds a rank's output open: nobody waits for it.
func TestHeldOpen(t *testing.T) {
	j := prepare(t, nil, "-n", "1", "sh", "-c", `echo $$; read x; echo end`)
	in, err := j.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	j.start()
	j.until("its number", func() bool { return strings.HasSuffix(j.out.String(), "\n") })
	held, err := os.OpenFile("/proc/"+strings.TrimSpace(j.out.String())+"/fd/1", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	_ = in.Close()
	if status := j.wait(); status != 0 || !strings.HasSuffix(j.out.String(), "\nend\n") {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}

// Nobody reads any more: the ranks go on, and their status counts.
func TestClosedOutput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	j := prepare(t, nil, "-n", "2", "sh", "-c", `trap "" PIPE; i=0; while [ $i -lt 5000 ]; do echo line $i || exit 8; i=$((i+1)); done; echo done >&2; exit 3`)
	j.cmd.Stdout = w
	j.start()
	_ = w.Close()
	if _, err := r.Read(make([]byte, 100)); err != nil {
		t.Error(err)
	}
	_ = r.Close()
	if status := j.wait(); status != 3 || !strings.Contains(j.err.String(), "done\n") {
		t.Errorf("%d, %q", status, j.err.String())
	}
}

func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = full.Close() }()
	j := prepare(t, nil, "-n", "2", "echo", "result")
	j.cmd.Stdout = full
	if status := j.start().wait(); status != 125 || !strings.Contains(j.err.String(), "output was lost: write /dev/stdout: no space left on device") {
		t.Errorf("%d, %q", status, j.err.String())
	}
}

// A slow reader gets all of it, long after the ranks have gone.
func TestSlowReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	// More than our pipe holds, and little enough for the ranks' pipes.
	j := prepareRanks(t, "lines:800", "-n", "2")
	j.cmd.Stdout = w
	j.start()
	_ = w.Close()
	j.unread(r)
	// Longer than the graces that follow: it still waits.
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if n := len(j.processes()); n != launchers() {
			t.Fatalf("%d processes of the launcher", n)
		}
	}
	var got bytes.Buffer
	if _, err := got.ReadFrom(r); err != nil {
		t.Error(err)
	}
	if status := j.wait(); status != 0 || strings.Count(got.String(), "\n") != 1600 {
		t.Errorf("%d, %d lines", status, strings.Count(got.String(), "\n"))
	}
}

// unread waits until there is output and all ranks are gone.
func (j *job) unread(r *os.File) {
	j.t.Helper()
	fds := []unix.PollFd{{Fd: int32(r.Fd()), Events: unix.POLLIN}}
	j.until("output, and the ranks' end", func() bool {
		n, _ := unix.Poll(fds, 0)
		return n == 1 && len(j.processes()) == launchers()
	})
}

// What a rank leaves behind with its streams is heard for a moment and ended.
func TestLeftBehind(t *testing.T) {
	// Each hears of its rank's end by the pipe that this held.
	const script = `p=fifo$PMI_RANK; mkfifo $p; (setsid sh -c "read x < $p; echo late; $THEN" &); exec 9> $p; echo soon`
	for _, then := range []string{"exec sleep 60", "exit"} {
		j := prepare(t, []string{"THEN=" + then}, "-n", "2", "bash", "-c", script)
		j.cmd.Dir = t.TempDir()
		j.start()
		status := j.wait()
		if out := j.out.String(); status != 0 || j.err.String() != "" || strings.Count(out, "late\n") != 2 || strings.Count(out, "soon\n") != 2 {
			t.Errorf("%s: %d, %q, %q", then, status, out, j.err.String())
		}
	}
}

// Rank i on the i-th allowed core, if there is one for each.
func TestBinding(t *testing.T) {
	const script = `grep Cpus_allowed_list: /proc/self/status | cut -f2 | sed "s/^/$PMI_RANK own=$VERBENA_OWN_CORE procs=$GOMAXPROCS /"`
	allowed, err := exec.Command("sh", "-c", "grep Cpus_allowed_list: /proc/self/status | cut -f2").Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(allowed)) != "0-1" {
		t.Skipf("written for cores 0-1, here are %s", allowed)
	}
	same := func(s string) string { // GOMAXPROCS is left alone
		return strings.ReplaceAll(s, "procs=", "procs="+os.Getenv("GOMAXPROCS"))
	}
	for _, c := range []struct {
		flags string
		n     int
		want  []string
	}{
		{"", 2, []string{"0 own=1 procs= 0", "1 own=1 procs= 1"}},
		{"", 1, []string{"0 own=1 procs= 0"}},
		{"", 3, []string{"0 own= procs= 0-1", "2 own= procs= 0-1"}},
		{"--bind-to=none", 2, []string{"0 own= procs= 0-1", "1 own= procs= 0-1"}},
		{"--bind-to=core", 3, []string{"0 own= procs= 0", "1 own= procs= 1", "2 own= procs= 0"}},
	} {
		args := append(strings.Fields(c.flags), "-n", fmt.Sprint(c.n), "sh", "-c", script)
		status, out, errs := verbrun(t, args...)
		for _, w := range c.want {
			if !strings.Contains(out, same(w)+"\n") {
				t.Errorf("%s -n %d: no %q in %q", c.flags, c.n, w, out)
			}
		}
		if status != 0 || errs != "" {
			t.Errorf("%d, %q", status, errs)
		}
	}
	// Within another's choice.
	if taskset, err := exec.LookPath("taskset"); err == nil {
		j := prepare(t, nil)
		j.cmd.Path = taskset
		j.cmd.Args = []string{"taskset", "-c", "1", "bash", "-c", `exec -a verbrun "$0" "$@"`, self(), "-n", "1", "sh", "-c", script}
		if status := j.start().wait(); status != 0 || j.out.String() != same("0 own=1 procs= 1\n") {
			t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
		}
	}
}
