// Package testbuild builds commands of this module for tests that run them.
package testbuild

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
)

const module = "github.com/verbena-mpi/verbena/"

// Commands builds packages of this module, named from its root, into a folder:
// with the race detector if the test has it. It is for a TestMain, in a package
// two folders below the root.
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
	return filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	})
}
