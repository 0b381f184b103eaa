package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Whole lines from all hosts, none lost and none broken, tagged or not, however long the
// reader takes.
func TestSSHLines(t *testing.T) {
	b := sshBed(t, 3)
	const ranks, lines = 4, 100_000
	for _, flags := range [][]string{nil, {"--tag-output"}} {
		j := onBed(t, b, []string{"VERBRUN_TEST_RANK=lines:" + fmt.Sprint(lines)}, append(flags, "--host", "h0:1,h1:2,h2:1", "-n", fmt.Sprint(ranks), self())...)
		if status := j.start().wait(); status != 0 {
			t.Fatalf("%v: %d, %.1000q", flags, status, j.err.String())
		}
		for stream, out := range map[string]string{"": j.out.String(), "e": j.err.String()} {
			next := make([]int, ranks)
			n := 0
			for line := range strings.Lines(out) {
				n++
				var rank, i int
				tag, text := "", line
				if flags != nil {
					tag, text, _ = strings.Cut(line, " ")
				}
				if k, err := fmt.Sscanf(text, "<"+stream+"%d %d ", &rank, &i); k != 2 || err != nil || !strings.HasSuffix(text, ">\n") || rank >= ranks || i != next[rank] ||
					flags != nil && tag != fmt.Sprintf("[%d]", rank) {
					t.Fatalf("%v: line %d is %q, of rank %d comes %d", flags, n, line, rank, next[rank])
				}
				next[rank]++
			}
			want := lines
			if stream == "e" {
				want /= 10
			}
			for rank, got := range next {
				if got != want {
					t.Errorf("%v: %d lines %q of rank %d", flags, got, stream, rank)
				}
			}
		}
	}
}

// Which cores a rank has is decided and known on its host. The mask for new files is
// the launcher's everywhere.
func TestSSHBindings(t *testing.T) {
	b := sshBed(t, 2)
	j := onBed(t, b, nil, "--host", "h0:1,h1:1", "--report-bindings", "--bind-to", "core", "sh", "-c", "umask; grep Cpus_allowed_list /proc/self/status")
	mask := syscall.Umask(0o027)
	j.start()
	syscall.Umask(mask)
	if status := j.wait(); strings.Count(j.out.String(), "0027\n") != 2 || status != 0 || !strings.HasPrefix(j.err.String(), "verbrun: rank 0: core ") || !strings.Contains(j.err.String(), "\nverbrun: rank 1 on h1: core ") {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}

// No room, or no right, for what is to be copied: said with the host's name, and
// nothing stays.
func TestSSHPreloadFails(t *testing.T) {
	b := sshBed(t, 2)
	dir := t.TempDir()
	write(t, dir+"/prog", "#!/bin/sh\n"+strings.Repeat("# much text\n", 100_000), 0o755)
	b.Hide(1, dir)
	small, readonly := t.TempDir(), t.TempDir()
	for dir, options := range map[string]string{small: "size=64k", readonly: "ro"} {
		if out, err := b.Command(1, "mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, c := range []struct{ tmp, want string }{
		{small, "verbrun: h1: copying " + dir + "/prog: write " + small + "/verbrun-agent-"},
		{small, ": no space left on device\n"},
		{readonly, "verbrun: h1: a folder for copies: mkdir " + readonly + "/verbrun-agent-"},
		{readonly, ": read-only file system\n"},
	} {
		// TMPDIR of the host: of its login, since ssh takes none along.
		script := filepath.Join(t.TempDir(), "agent")
		write(t, script, "#!/bin/sh\nexec ssh $1 \"export TMPDIR="+c.tmp+"; $2\"\n", 0o700)
		j := onBed(t, b, nil, "--host", "h1", "-n", "1", "--wdir", "/", "--launch-agent", script, "--preload", dir+"/prog", dir+"/prog")
		if status := j.start().wait(); status != 123 || !strings.Contains(j.err.String(), c.want) {
			t.Errorf("%d, %q, expected %q", status, j.err.String(), c.want)
		}
	}
	if left, err := b.Command(1, "ls", "-A", small).CombinedOutput(); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}
