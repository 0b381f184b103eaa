package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Several programs are one job, numbered through, each with its own variables
// and folder.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	const show = `echo "$PMI_RANK of $PMI_SIZE: $1 $A $(pwd)"`
	status, out, errs := verbrun(t,
		"-n", "1", "-x", "A=one", "sh", "-c", show, "x", ":",
		":", "-np", "2", "-wdir", dir, "-x", "A=a=b,c d", "sh", "-c", show, "x", "-n")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if status != 0 || errs != "" || strings.Count(out, "\n") != 3 {
		t.Fatalf("%d, %q, %q", status, out, errs)
	}
	for _, want := range []string{"0 of 3: : one " + here, "1 of 3: -n a=b,c d " + dir, "2 of 3: -n a=b,c d " + dir} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("no %q in %q", want, out)
		}
	}
	// The programs of a job meet.
	_, out, errs = verbrun(t, "-n", "1", "sh", "-c", `VERBRUN_TEST_RANK=exchange exec "$0"`, self(), ":",
		"-n", "2", "-x", "VERBRUN_TEST_RANK=exchange", self())
	if strings.Count(out, " of 3\n") != 3 {
		t.Errorf("%q, %q", out, errs)
	}
	// A colon that no flag follows is an argument.
	if _, out, _ := verbrun(t, "-n", "1", "echo", "a", ":", "b", ":"); out != "a : b :\n" {
		t.Errorf("%q", out)
	}
	// The rank to fail is named by its number in the job.
	if status, _, errs := verbrun(t, "-n", "2", "sleep", "60", ":", "-n", "2", "sh", "-c", "test $PMI_RANK = 2 || exec sleep 60; exit 6"); status != 6 || !strings.Contains(errs, "rank 2 (pid") {
		t.Errorf("%d, %q", status, errs)
	}
}

func TestAppnum(t *testing.T) {
	const ask = `printf 'cmd=init pmi_version=1 pmi_subversion=1\n' >&3; read x <&3
		printf 'cmd=get_appnum\n' >&3; read x <&3; echo "$PMI_RANK $x"
		printf 'cmd=finalize\n' >&3; read x <&3`
	status, out, errs := verbrun(t, "-n", "2", "sh", "-c", ask, ":", "-n", "1", "sh", "-c", ask)
	if status != 0 {
		t.Fatalf("%d, %q", status, errs)
	}
	for _, want := range []string{"0 cmd=appnum rc=0 appnum=0\n", "1 cmd=appnum rc=0 appnum=0\n", "2 cmd=appnum rc=0 appnum=1\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
}

// -x over --env-file over the environment, to the byte.
func TestVariables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	text := "# a comment\n\nA=from file\nB= \"quoted\" $HOME \\n \r\n  \nC\nD=\nE=x=y,z"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	j := prepare(t, []string{"A=here", "C=c here", "E=here", "F=f here"}, "-n", "1", "-x", "A=from x", "--env-file", file, "-x", "F",
		"sh", "-c", `for v in "$A" "$B" "$C" "$D" "$E" "$F"; do printf '<%s>\n' "$v"; done; env | grep -c ^A=`).start()
	want := "<from x>\n< \"quoted\" $HOME \\n >\n<c here>\n<>\n<x=y,z>\n<f here>\n1\n"
	if status := j.wait(); status != 0 || j.out.String() != want {
		t.Errorf("%d, %q, expected %q, %q", status, j.out.String(), want, j.err.String())
	}
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("A=1\nexport B=2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags, line string
	}{
		{"--env-file " + bad, "--env-file: " + bad + `:2: "export B=2": expected NAME=VALUE or NAME`},
		{"--env-file /no/such", "--env-file: open /no/such: no such file or directory"},
		{"-x NO_SUCH_VARIABLE", "-x: NO_SUCH_VARIABLE isn't set here"},
		{"-x =1", `-x: "=1": expected NAME=VALUE or NAME`},
		{"-x PMI_RANK=1", "PMI_RANK: this variable is the launcher's own"},
	} {
		status, _, errs := verbrun(t, append(append([]string{"-n", "1"}, strings.Fields(c.flags)...), "true")...)
		if status != 2 || !strings.HasPrefix(errs, "verbrun: "+c.line) {
			t.Errorf("%s: %d, %q, expected %q", c.flags, status, errs, c.line)
		}
	}
}

// A program is looked up from here, wherever its ranks start.
func TestWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here.sh"), []byte("#!/bin/sh\necho $PWD $(/bin/pwd)\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	j := prepare(t, nil, "-n", "2", "--wdir", "sub", "./here.sh")
	j.cmd.Dir = dir
	sub := filepath.Join(dir, "sub")
	if status := j.start().wait(); status != 0 || j.out.String() != strings.Repeat(sub+" "+sub+"\n", 2) {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}
