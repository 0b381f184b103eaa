package launcher

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindProgram(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	bin := filepath.Join(dir, "bin")
	for name, mode := range map[string]os.FileMode{
		"lib/main.go": 0o600, "bad/main.go": 0o600, "none/x_plan9.go": 0o600,
		"bin/tool": 0o700, "bin/plain": 0o600, "here": 0o700, "data": 0o600,
		"ring/main.go": 0o600, "tool/main.go": 0o600, "odd[1]/main.go": 0o600, "empty/README": 0o600,
	} {
		text := "package main"
		switch filepath.Dir(name) {
		case "lib":
			text = "package lib"
		case "bad":
			text = "pack age"
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	for _, c := range []struct {
		name   string
		want   program
		status int
		err    string
	}{
		{"tool", program{File: bin + "/tool"}, 0, ""},
		{"./tool", program{Package: dir + "/tool"}, 0, ""},
		{"./here", program{File: "./here"}, 0, ""},
		{"ring", program{Package: dir + "/ring"}, 0, ""},
		{"ring/", program{Package: dir + "/ring"}, 0, ""},
		{"./odd[1]", program{Package: dir + "/odd[1]"}, 0, ""},
		{"bad", program{Package: dir + "/bad"}, 0, ""},
		{"./none", program{Package: dir + "/none"}, 0, ""},
		{"./lib", program{}, StatusNotExecutable, "./lib is Go package lib, and not a program"},
		{"here", program{}, StatusNotFound, "say ./here"},
		{"nosuch", program{}, StatusNotFound, "not found in PATH"},
		{"./nosuch", program{}, StatusNotFound, "no such file"},
		{"plain", program{}, StatusNotExecutable, "not executable"},
		{"./data", program{}, StatusNotExecutable, "not executable"},
		{"./empty", program{}, StatusNotExecutable, "without Go files"},
		{"ring/main.go", program{}, StatusNotExecutable, "give the directory of its package, ./ring"},
		{"here/below", program{}, StatusNotExecutable, "not a directory"},
	} {
		got, err := findProgram(c.name)
		if c.status == 0 {
			if err != nil || got != c.want {
				t.Errorf("%s: %+v, %v; expected %+v", c.name, got, err, c.want)
			}
			continue
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Status != c.status || !strings.Contains(e.Error(), c.err) {
			t.Errorf("%s: %v; expected status %d and %q", c.name, err, c.status, c.err)
		}
	}
}

func TestEnviron(t *testing.T) {
	got := environ([]string{
		"A=first", "PMI_FD=9", "PMI_PORT=x", "PMIX_RANK=1", "VERBENA_OWN_CORE=1", "VERBENA_RECV=peer", "MPI_LOCALRANKID=5", "PMIND=1", "A=b=c,d",
	}, position{rank: 2, size: 4, local: 1, locals: 3})
	want := "VERBENA_RECV=peer PMIND=1 A=b=c,d PMI_FD=3 PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=3"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s\nexpected %s", s, want)
	}
	if got := environ(nil, position{size: 1, ownCore: true}); got[len(got)-1] != "VERBENA_OWN_CORE=1" {
		t.Error(got)
	}
}

func TestValidate(t *testing.T) {
	for _, j := range []Job{
		{},
		{Parts: []Part{{Ranks: -1, Program: "x"}}},
		{Parts: []Part{{Ranks: MaxRanks + 1, Program: "x"}}},
		{Parts: []Part{{Ranks: MaxRanks, Program: "true"}, {Ranks: 1, Program: "true"}}},
		{Parts: []Part{{Ranks: 1}}},
		{Parts: []Part{{Ranks: 1, Program: "true", Env: []string{"NAME"}}}},
		{Parts: []Part{{Ranks: 1, Program: "true", Env: []string{"=value"}}}},
		{Parts: []Part{{Ranks: 1, Program: "true", Env: []string{"X=\x00"}}}},
		{Parts: []Part{{Ranks: 1, Program: "true", Env: []string{"PMI_RANK=7"}}}},
		{Parts: []Part{{Ranks: 1, Program: "true", Dir: "/no/such/folder"}}},
		{Parts: []Part{{Ranks: 1, Program: "true", Dir: "/dev/null"}}},
		{Parts: []Part{{Ranks: 1, Program: "true"}}, BuildFlags: []string{"-race"}},
		{Parts: []Part{{Ranks: 1, Program: "true"}}, Timeout: -1},
		{Parts: []Part{{Ranks: 1, Program: "true"}}, Bind: 9},
		{Parts: []Part{{Ranks: 1, Program: "true"}}, Input: 9},
		{Parts: []Part{{Ranks: 1, Program: "true"}}, Profile: "heap"},
	} {
		_, err := Run(t.Context(), j)
		if got := Status(Result{}, err); got != StatusUsage && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%+v: %v, status %d", j, err, got)
		}
	}
}
