package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestTagOutput(t *testing.T) {
	const script = `test $PMI_RANK = 1 || exit 0; printf 'a\n\nb'; printf 'c\nd' >&2; kill -KILL $$`
	status, out, errs := verbrun(t, "-tag-output", "-n", "2", "sh", "-c", script)
	if status != 137 || out != "[1] a\n[1] \n[1] b" || !strings.HasPrefix(errs, "[1] c\n[1] d\nverbrun: rank 1 (pid ") {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
}

func TestTimestampOutput(t *testing.T) {
	status, out, errs := verbrun(t, "--timestamp-output", "--tag-output", "-n", "1", "sh", "-c", "echo a; echo b; exit 3")
	const time = `20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6} `
	if status != 3 || !regexp.MustCompile(`^`+time+`\[0\] a\n`+time+`\[0\] b\n$`).MatchString(out) ||
		!regexp.MustCompile(`^`+time+`verbrun: rank 0 .* exited with status 3\n$`).MatchString(errs) {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
}

// Each rank has its files, exact, and they sort by rank.
func TestOutputFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run.10.out"), []byte("old, and longer than what is new"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := prepare(t, nil, "-n", "11", "--output-filename", "run", "sh", "-c",
		`printf "out $PMI_RANK\nno newline"; printf "err $PMI_RANK" >&2; test $PMI_RANK != 10 || { echo last >&2; exit 4; }; exec sleep 60`)
	j.cmd.Dir = dir
	if status := j.start().wait(); status != 4 || j.out.String() != "" || !strings.HasPrefix(j.err.String(), "verbrun: rank 10 (pid ") {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 22 || files[0].Name() != "run.00.err" || files[21].Name() != "run.10.out" {
		t.Fatalf("%v, %v", files, err)
	}
	for name, want := range map[string]string{"run.10.out": "out 10\nno newline", "run.10.err": "err 10last\n"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if d := cmp.Diff(want, string(b)); err != nil || d != "" {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
	status, out, errs := verbrun(t, "-n", "2", "--tag-output", "--output-filename", filepath.Join(dir, "tagged"), "echo", "x")
	b, err := os.ReadFile(filepath.Join(dir, "tagged.1.out"))
	if status != 0 || out != "" || errs != "" || err != nil || string(b) != "[1] x\n" {
		t.Errorf("%d, %q, %q, %q, %v", status, out, errs, b, err)
	}
}

func TestOutputFilesFail(t *testing.T) {
	dir := t.TempDir()
	status, out, errs := verbrun(t, "-n", "2", "--output-filename", dir+"/none/run", "echo", "x")
	if want := "verbrun: output file: open " + dir + "/none/run.0.out: no such file or directory\n"; status != 2 || out != "" || errs != want {
		t.Errorf("%d, %q, %q, expected %q", status, out, errs, want)
	}
	// Before any rank has run.
	if err := os.Mkdir(dir+"/late.1.err", 0o700); err != nil {
		t.Fatal(err)
	}
	status, out, errs = verbrun(t, "-n", "2", "--output-filename", dir+"/late", "sh", "-c", "echo > "+dir+"/ran")
	if want := "verbrun: output file: open " + dir + "/late.1.err: is a directory\n"; status != 2 || out != "" || errs != want {
		t.Errorf("%d, %q, %q, expected %q", status, out, errs, want)
	}
	if _, err := os.Stat(dir + "/ran"); err == nil {
		t.Error("a rank was started")
	}
	if err := unix.Mkfifo(dir+"/pipe.0.out", 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errs = verbrun(t, "-n", "2", "--output-filename", dir+"/pipe", "echo", "x")
	if want := "verbrun: output file: open " + dir + "/pipe.0.out: no such device or address\n"; status != 2 || out != "" || errs != want {
		t.Errorf("%d, %q, %q, expected %q", status, out, errs, want)
	}
	full := filepath.Join(dir, "full.1.out")
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full: ", err)
	}
	if err := os.Symlink("/dev/full", full); err != nil {
		t.Fatal(err)
	}
	status, out, errs = verbrun(t, "-n", "2", "--output-filename", dir+"/full", "echo", "x")
	if want := "verbrun: output was lost: write " + full + ": no space left on device\n"; status != 125 || out != "" || errs != want {
		t.Errorf("%d, %q, %q, expected %q", status, out, errs, want)
	}
}
