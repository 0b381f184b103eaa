// Package testbuild builds commands of this module for tests that run them.
package testbuild

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const module = "github.com/verbena-mpi/verbena/"

// Main is the whole of a TestMain: it builds packages as Commands does, into a folder
// whose name it puts into bin before the tests run, and which it removes. In short mode
// nothing is built and nothing runs.
func Main(m *testing.M, bin *string, packages ...string) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("skipped: builds and runs commands")
		return
	}
	os.Exit(run(m, bin, packages))
}

func run(m *testing.M, bin *string, packages []string) int {
	dir, err := os.MkdirTemp("", "verbena-test-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		*bin = dir
		err = Commands(dir, packages...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Commands builds packages of this module, named from its root, into a folder:
// with the race detector if the test has it.
func Commands(dir string, packages ...string) error {
	args := []string{"build"}
	if Race {
		args = append(args, "-race")
	}
	args = append(args, "-o", dir+string(filepath.Separator))
	for _, pkg := range packages {
		args = append(args, module+pkg)
	}
	if err := notice(); err != nil {
		return err
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("go %v: %w", args, err), errors.New(string(out)))
	}
	return nil
}

// notice opens the folders of all packages. The go command keeps the results of
// tests, and takes notice of what a test itself has opened: without this, it
// would not repeat these tests when what they build has changed.
func notice() error {
	root := "."
	for depth := 0; ; depth++ {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		} else if depth == 10 {
			return err
		}
		root = filepath.Join(root, "..")
	}
	return filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	})
}
