package launcher

import (
	"errors"
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
		case errors.Is(err, fs.ErrPermission):
			return program{}, fail(StatusNotExecutable, "%s: found in PATH, but not executable", name)
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

func packageDir(name string) (program, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return program{}, fail(StatusInternal, "%w", err)
	}
	files, err := filepath.Glob(filepath.Join(globEscape(abs), "*.go"))
	if err != nil || len(files) == 0 {
		return program{}, fail(StatusNotExecutable, "%s is a directory without Go files", name)
	}
	return program{Package: abs}, nil
}

func globEscape(s string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(s)
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
