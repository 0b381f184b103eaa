package launcher

import (
	"errors"
	"go/build"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program is what the user named, found.
type program struct {
	File    string // to execute; empty if it is to be built
	Package string // the directory to build, absolute
}

// findProgram looks a program up as a shell would: a name without a slash in
// PATH, anything else as a file. A directory is a Go package to build.
func findProgram(name string) (program, error) {
	if !strings.ContainsRune(name, filepath.Separator) {
		file, err := exec.LookPath(name)
		if err == nil {
			return program{File: file}, nil
		}
		if errors.Is(err, exec.ErrDot) {
			return program{}, fail(StatusNotFound, "%s: PATH has the current directory; say ./%s", name, name)
		}
		st, serr := os.Stat(name)
		switch {
		case serr == nil && st.IsDir():
			return packageDir(name)
		case plainInPath(name) != "":
			return program{}, fail(StatusNotExecutable, "%s: not executable", plainInPath(name))
		case serr == nil:
			return program{}, fail(StatusNotFound, "%s: not found in PATH; for the file here say ./%s", name, name)
		}
		return program{}, fail(StatusNotFound, "%s: not found in PATH", name)
	}
	st, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return program{}, fail(StatusNotFound, "%s: no such file", name)
	case err != nil:
		return program{}, fail(StatusNotExecutable, "%w", err)
	case st.IsDir():
		return packageDir(name)
	}
	if _, err := exec.LookPath(name); err != nil {
		if strings.HasSuffix(name, ".go") {
			return program{}, fail(StatusNotExecutable, "%s is a source file: give the directory of its package, %s", name, relative(filepath.Dir(name)))
		}
		return program{}, fail(StatusNotExecutable, "%s: not executable", name)
	}
	return program{File: name}, nil
}

// plainInPath finds a file in PATH that can't be executed.
func plainInPath(name string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		file := filepath.Join(dir, name)
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

func packageDir(name string) (program, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return program{}, fail(StatusInternal, "%w", err)
	}
	pkg, err := build.ImportDir(abs, 0)
	_, none := errors.AsType[*build.NoGoError](err)
	switch {
	case none && len(pkg.IgnoredGoFiles) == 0:
		return program{}, fail(StatusNotExecutable, "%s is a directory without Go files", name)
	case err == nil && pkg.Name != "main":
		return program{}, fail(StatusNotExecutable, "%s is Go package %s, and not a program (package main)", name, pkg.Name)
	}
	return program{Package: abs}, nil // else go build says what is wrong
}

// relative makes a directory look like one: go and shells want the dot.
func relative(dir string) string {
	const sep = string(filepath.Separator)
	switch first, _, _ := strings.Cut(dir, sep); {
	case filepath.IsAbs(dir), first == ".", first == "..":
		return dir
	}
	return "." + sep + dir
}
