package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const helloProgram = `package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	fmt.Println(os.Getenv("PMI_RANK"), filepath.Base(os.Args[0]), os.Args[1:], os.Getenv("GOTMPDIR"))
}
`

func TestBuild(t *testing.T) {
	dir := program(t, helloProgram)
	status, out, errs := verbrun(t, "-n", "2", dir, "-x", "y")
	if status != 0 || errs != "" || !strings.Contains(out, "0 prog [-x y] \n") || !strings.Contains(out, "1 prog [-x y] \n") {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
	// From within its module, by a relative name.
	j := prepare(t, nil, "-n", "1", "./sub")
	j.cmd.Dir = dir
	if err := os.Rename(filepath.Join(dir, "main.go"), filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "sub", "main.go")
	if err := os.WriteFile(bad, []byte("package main\n\nfunc main() { undefined() }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j.start()
	if status := j.wait(); status != 1 || j.err.String() != "# example.org/prog/sub\nsub/main.go:3:15: undefined: undefined\n" || j.out.String() != "" {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
	if err := os.WriteFile(bad, []byte("package sub\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j = prepare(t, nil, "-n", "1", "./sub")
	j.cmd.Dir = dir
	j.start()
	if status := j.wait(); status != 126 || !strings.Contains(j.err.String(), "./sub is Go package sub, and not a program") {
		t.Errorf("%d, %q", status, j.err.String())
	}
}

func TestBuildWithoutGo(t *testing.T) {
	sh, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	j := prepare(t, []string{"PATH=" + filepath.Dir(sh)}, "-n", "1", program(t, helloProgram)).start()
	if status := j.wait(); status != 127 || !strings.Contains(j.err.String(), "go isn't in PATH") {
		t.Errorf("%d, %q", status, j.err.String())
	}
}

const flagsProgram = `package main

import (
	"fmt"
	"runtime/debug"
)

var text string

func main() {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			fmt.Printf("%s, tags %s\n", text, s.Value)
		}
	}
}
`

// Flags reach the build, also those with spaces, and a package of two parts is
// built once.
func TestBuildFlags(t *testing.T) {
	dir := program(t, flagsProgram)
	status, out, errs := verbrun(t, "--verbose", "--build-flags", "-tags=a,b '-ldflags=-X main.text=two_words'",
		"--build-flags=\"-ldflags=-X main.text=three -s\"", "-n", "1", dir, ":", "-n", "2", dir+"/", ":", "-n", "1", "true")
	if status != 0 || out != strings.Repeat("three, tags a,b\n", 3) || strings.Count(errs, `\"build\"`) != 1 {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
}
