package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// prepare finds out whether the ranks can be started here. None is yet: all hosts
// do this first.
func (a *agent) prepare() (fromAgent, error) {
	var err error
	if a.bound, err = newBinding(len(a.spec.Ranks), a.spec.Bind); err != nil {
		return fromAgent{}, err
	}
	missing, err := a.gather()
	if err != nil {
		return fromAgent{}, err
	}
	if len(missing) > 0 {
		go func() { a.got <- a.receive(missing) }()
		return fromAgent{Ready: &agentReady{Missing: missing}}, nil
	}
	return a.check()
}

// check looks at programs and folders, when all files are here.
func (a *agent) check() (fromAgent, error) {
	here := os.Environ()
	for i, p := range a.spec.Parts {
		q := p.Part
		q.Env = hostEnv(q.Env, q.Own, here, a.spec.Account, isDir)
		if p.File >= 0 {
			q.Program.File = a.files[p.File]
		}
		a.parts = append(a.parts, q)
		if !a.runs(i) {
			continue
		}
		if err := checkDir(q.Dir); err != nil {
			return fromAgent{}, err
		}
		if err := checkProgram(&q); err != nil {
			return fromAgent{}, err
		}
	}
	ready := agentReady{}
	for i := range a.spec.Ranks {
		ready.Where = append(ready.Where, a.bound.where(i))
	}
	return fromAgent{Ready: &ready}, nil
}

// runs says whether a part has ranks here.
func (a *agent) runs(part int) bool {
	for _, r := range a.spec.Ranks {
		if r.Part == part {
			return true
		}
	}
	return false
}

func checkDir(dir string) error {
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		return fail(StatusUsage, "working directory: %s is no directory", dir)
	}
	if err == nil {
		err = unix.Access(dir, unix.X_OK)
	}
	if err != nil {
		return fail(StatusUsage, "working directory: %s: %w", dir, bare(err))
	}
	return nil
}

// bare is an error of os without the name of the call and of the file.
func bare(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}

// inFolder is a file as seen from a folder.
func inFolder(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// checkProgram finds out what execve would say, as far as that is possible.
func checkProgram(p *part) error {
	path := inFolder(p.Dir, p.Program.File)
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return fail(StatusNotFound, "%s: %w", p.Program.File, bare(err))
	case st.IsDir():
		return fail(StatusNotExecutable, "%s: is a directory", p.Program.File)
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return fail(StatusNotExecutable, "%s: %w", p.Program.File, err)
	}
	return nil
}

// start starts the ranks.
func (a *agent) start() (fromAgent, error) {
	syscall.Umask(a.spec.Umask)
	for _, r := range a.spec.Ranks {
		a.crew.ranks = append(a.crew.ranks, &rank{id: r.ID, app: r.Part, out: &stream{}, err: &stream{}})
		p := &proxy{input: r.Input, log: a.log}
		a.remotes[r.ID] = p
		if err := p.meet(r.ID, a.stream); err != nil {
			return fromAgent{}, fmt.Errorf("rank %d: %w", r.ID, err)
		}
	}
	given := func(r *rank) (*os.File, []string, error) {
		r.link = newLink()
		stdin, err := a.remotes[r.id].stdin(a.spec.Return)
		env := r.link.env(a.spec.Job)
		if slices.ContainsFunc(a.spec.Files, func(f sentFile) bool { return f.Named }) {
			env = append(env, preloadEnv+"="+a.preloaded())
		}
		return stdin, env, err
	}
	err := a.crew.start(a.bound, a.parts, a.spec.Size, given)
	if err != nil {
		a.killing = true
		a.crew.kill()
		a.crew.watch()
		return fromAgent{}, err
	}
	m := fromAgent{Started: []int{}}
	for _, r := range a.crew.ranks {
		a.remotes[r.id].serve(r)
		m.Started = append(m.Started, r.pid)
	}
	a.crew.watch()
	return m, nil
}
