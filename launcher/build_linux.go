package launcher

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// buildLimit bounds go build, which downloads what it lacks.
const buildLimit = 30 * time.Minute

// build builds the packages of all parts into the job's temporary folder, where
// go's own temporary files are too. A package of several parts is built once.
func (v *supervisor) build() error {
	bin, work := filepath.Join(v.spec.TempDir, "bin"), filepath.Join(v.spec.TempDir, "work")
	for _, d := range []string{bin, work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return fail(StatusInternal, "%w", err)
		}
	}
	built := map[string]string{}
	for i := range v.spec.Parts {
		p := &v.spec.Parts[i]
		if p.Program.Package == "" {
			continue
		}
		if built[p.Program.Package] == "" {
			file, err := v.buildOne(p, filepath.Join(bin, strconv.Itoa(i)), work)
			if err != nil {
				return err
			}
			built[p.Program.Package] = file
		}
		p.Program.File = built[p.Program.Package]
	}
	return nil
}

// buildOne builds one package, as go run would, and returns the program's file.
func (v *supervisor) buildOne(p *part, bin, work string) (string, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", fail(StatusNotFound, "building %s: go isn't in PATH", p.Name)
	}
	dir, pattern := buildPlace(p.Program.Package)
	args := append(append([]string{"go", "build"}, v.spec.BuildFlags...), "-o", bin+"/", pattern)
	cmd := &exec.Cmd{
		Path: tool, Args: args, Dir: dir,
		Env: append(append([]string{}, v.spec.Env...), "GOTMPDIR="+work), Stdout: v.stderr, Stderr: v.stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	v.log.Debugf("in %s: %q", dir, cmd.Args)
	if err := v.watch(cmd, p.Name); err != nil {
		return "", err
	}
	files, err := os.ReadDir(bin)
	if err != nil || len(files) != 1 {
		return "", fail(StatusNotExecutable, "building %s gave no program", p.Name)
	}
	return filepath.Join(bin, files[0].Name()), nil
}

// watch runs the build of a program. A signal meanwhile is the build's, and ends the job.
func (v *supervisor) watch(cmd *exec.Cmd, name string) error {
	cmd.WaitDelay = time.Second // for the compilers that a killed go leaves
	if err := cmd.Start(); err != nil {
		return fail(StatusInternal, "starting go build: %w", err)
	}
	demote(cmd.Process.Pid, v.crew.realtime)
	built := make(chan error, 1)
	go func() { built <- cmd.Wait() }()
	limit := time.NewTimer(buildLimit)
	defer limit.Stop()
	stop := func(sig syscall.Signal) {
		_ = syscall.Kill(-cmd.Process.Pid, sig)
		select {
		case <-built:
		case <-time.After(termGrace):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-built
		}
	}
	select {
	case err := <-built:
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit):
			return &Error{Status: StatusBuild} // go has said why
		case err != nil:
			return fail(StatusInternal, "go build: %w", err)
		}
		return nil
	case o, ok := <-v.orders:
		if !ok || o.Cancel {
			stop(syscall.SIGKILL)
			return fail(StatusInternal, "canceled while building %s", name)
		}
		stop(syscall.SIGTERM)
		return fail(128+o.Signal, "building %s: ended by %s", name, signalName(syscall.Signal(o.Signal)))
	case <-limit.C:
		stop(syscall.SIGTERM)
		return fail(StatusBuild, "building %s took more than %v", name, buildLimit)
	}
}

// buildPlace is where to call go build, and for what: from here if the package
// belongs to this folder's module, so that messages name files as seen from
// here, else from its own folder.
func buildPlace(pkg string) (dir, pattern string) {
	here, err := os.Getwd()
	if err != nil {
		return pkg, "."
	}
	if rel, err := filepath.Rel(here, pkg); err == nil && moduleRoot(here) == moduleRoot(pkg) {
		return here, relative(rel)
	}
	return pkg, "."
}

// moduleRoot is the nearest folder upwards with a go.mod, or nothing.
func moduleRoot(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}
