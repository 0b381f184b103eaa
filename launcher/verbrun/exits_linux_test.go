package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// exits are the rows of the table in docs/LAUNCHING.md, by their first column.
var exits = map[string]struct {
	job func(t *testing.T, dir string) *job // to be started in an empty folder
	do  func(j *job)                        // when it runs
}{
	"every rank exits with 0":                                {job: sh(`exit 0`)},
	"a rank exits with 3":                                    {job: sh(last + `exit 3`)},
	"a rank exits with 255":                                  {job: sh(last + `exit 255`)},
	"a rank is killed by KILL":                               {job: sh(last + `kill -KILL $$`)},
	"a rank is killed by SEGV":                               {job: sh(last + `kill -SEGV $$`)},
	"a rank writes into a pipe of its own that nobody reads": {job: sh(last + `mkfifo fifo; exec 5<>fifo 6>fifo 5<&-; echo x >&6`)},
	"a Go program panics":                                    {job: as("panic:1")},
	"a Go program dereferences nil":                          {job: as("nil:1")},
	"a rank exits with 4, and another that is told to end exits with 9": {job: sh(`
		test -p fifo || mkfifo fifo 2>/dev/null
		test $PMI_RANK = 1 || { trap "exit 9" TERM; echo > fifo; while :; do sleep 1; done; }
		read x < fifo; exit 4`)},
	"a rank joins the job and exits with 0 without finalizing":      {job: as("unfinished:1")},
	"a rank has finalized, and another waits for it in a barrier":   {job: as("finished:1")},
	"a rank exits with 0 and never joins, and another waits for it": {job: as("absent:1")},
	"a rank breaks the launcher's protocol":                         {job: sh(last + `echo garbage >&3; exec sleep 60`)},
	"a rank calls abort with 7":                                     {job: as("abort:1")},
	"a rank calls abort with 0":                                     {job: sh(last + `echo cmd=abort exitcode=0 >&3; exec sleep 60`)},
	"a rank calls abort with 300":                                   {job: sh(last + `echo cmd=abort exitcode=300 >&3; exec sleep 60`)},
	"the time limit ends the job":                                   {job: line("-n", "2", "--timeout=100ms", "sleep", "60")},
	"INT, and the ranks die of it":                                  {job: sh(stay), do: send(syscall.SIGINT)},
	"TERM, and the ranks die of it":                                 {job: sh(stay), do: send(syscall.SIGTERM)},
	"HUP, and the ranks die of it":                                  {job: sh(stay), do: send(syscall.SIGHUP)},
	"QUIT, and the ranks die of it":                                 {job: sh(stay), do: send(syscall.SIGQUIT)},
	"TERM, and the ranks exit with 0":                               {job: as("signals"), do: send(syscall.SIGTERM)},
	"a second INT": {job: as("signals:quiet"), do: func(j *job) {
		j.ready(2)
		j.signal(syscall.SIGINT)
		j.until("INT", func() bool { return strings.Count(j.out.String(), "got interrupt\n") == 2 })
		j.signal(syscall.SIGINT)
	}},
	"verbrun is killed by KILL": {job: sh(stay), do: send(syscall.SIGKILL)},
	"its supervisor is killed by KILL": {job: sh(stay), do: func(j *job) {
		j.ready(2)
		if err := syscall.Kill(j.supervisor(), syscall.SIGKILL); err != nil {
			j.t.Error(err)
		}
	}},
	"the reader of the output has gone":                {job: to("|", `i=0; while [ $i -lt 9999 ]; do echo $i; i=$((i+1)); done; exit 0`)},
	"the disk of the output is full":                   {job: to("/dev/full", `echo x`)},
	"the disk of the output is full, and a rank fails": {job: to("/dev/full", `echo x; test $PMI_RANK = 0 || exec sleep 60; exit 3`)},
	"there is no such program in PATH":                 {job: line("-n", "2", "no-such-program")},
	"there is no such file":                            {job: line("-n", "2", "./no-such-program")},
	"the script's interpreter is missing":              {job: file("script", "#!/no/such/interpreter\n", 0o700)},
	"the file isn't executable":                        {job: file("data", "", 0o600)},
	"the file is a source file":                        {job: file("main.go", "package main", 0o600)},
	"the file is executable and no program":            {job: file("data", "\x7fELF is not all", 0o700)},
	"the arguments or a variable are too long":         {job: file("env", "LONG="+strings.Repeat("x", 200<<10), 0o600, "-n", "2", "--env-file", "./env", "true")},
	"the directory has no Go files":                    {job: file("sub/README", "", 0o600)},
	"the package isn't a program":                      {job: file("sub/lib.go", "package lib\n", 0o600)},
	"the package doesn't build":                        {job: file("sub/main.go", "package main\nfunc main() { undefined() }\n", 0o600)},
	"the package is to be built and go isn't there": {job: func(t *testing.T, dir string) *job {
		j := file("sub/main.go", "package main\nfunc main() {}\n", 0o600)(t, dir)
		j.cmd.Env = append(j.cmd.Env, "PATH=/no/such")
		return j
	}},
	"TERM while it builds": {job: func(t *testing.T, dir string) *job {
		write(t, dir+"/bin/go", "#!/bin/sh\necho ready; exec sleep 60", 0o700)
		j := file("sub/main.go", "package main\nfunc main() {}\n", 0o600)(t, dir)
		j.cmd.Env = append(j.cmd.Env, "PATH="+dir+"/bin:"+os.Getenv("PATH"))
		return j
	}, do: func(j *job) {
		j.until("building", func() bool { return strings.Contains(j.err.String(), "ready") })
		j.signal(syscall.SIGTERM)
	}},
	"no program is given":                        {job: line("-n", "2")},
	"the number of ranks isn't given":            {job: line("true")},
	"the number of ranks is 0":                   {job: line("-n", "0", "true")},
	"there are too many ranks":                   {job: line("-n", "4097", "true")},
	"there are more ranks than slots":            {job: line("-n", "3", "--host", "localhost:2", "true")},
	"there are more ranks than max_slots allow":  {job: file("hosts", "localhost slots=1 max_slots=2", 0o600, "-n", "3", "--hostfile", "hosts", "--oversubscribe", "true")},
	"the hostfile is missing":                    {job: line("-n", "1", "--hostfile", "/no/such", "true")},
	"the hostfile makes no sense":                {job: file("hosts", "# all\nlocalhost slot=2", 0o600, "-n", "1", "--hostfile", "hosts", "true")},
	"a flag is unknown":                          {job: line("-n", "2", "--frobnicate", "true")},
	"a flag's value makes no sense":              {job: line("-n", "2", "--bind-to", "socket", "true")},
	"a flag of the job stands after a colon":     {job: line("-n", "1", "true", ":", "-n", "1", "--timeout", "3", "true")},
	"a variable to pass on isn't set":            {job: line("-n", "1", "-x", "NO_SUCH_VARIABLE", "true")},
	"the file of variables is missing":           {job: line("-n", "1", "--env-file", "/no/such", "true")},
	"the working directory is missing":           {job: line("-n", "1", "--wdir", "/no/such", "true")},
	"the folder of the output files is missing":  {job: line("-n", "1", "--output-filename", "/no/such/run", "true")},
	"there are build flags and nothing to build": {job: line("-n", "1", "--build-flags=-race", "true")},
	"a file to preload is missing":               {job: line("-n", "1", "--host", otherHosts[0], "--preload", "/no/such", "true")},
	"ssh isn't there": {job: func(t *testing.T, _ string) *job {
		return prepare(t, []string{"PATH=/no/such"}, "-n", "1", "--host", otherHosts[0], "/bin/true")
	}},
	"a host can't be reached": {job: func(t *testing.T, dir string) *job {
		write(t, dir+"/bin/ssh", "#!/bin/sh\necho ssh: connect to host: Connection refused >&2; exit 255", 0o700)
		return prepare(t, []string{"PATH=" + dir + "/bin:" + os.Getenv("PATH")}, "-n", "1", "--host", otherHosts[0], "true")
	}},
	"a host doesn't answer":                 {job: through(`exec sleep 60`, "--launch-timeout=300ms", "-n", "1", "true")},
	"there is no verbrun on a host":         {job: through(`echo verbena-agent: missing`, "-n", "1", "true")},
	"verbrun isn't executable on a host":    {job: through(`echo verbena-agent: denied`, "-n", "1", "true")},
	"a host has another version":            {job: through(`echo verbena-agent: ready 0 0.0.1`, "-n", "1", "true")},
	"the program is missing on a host":      {job: through(`rm bin/program; eval "$2"`, "-n", "1", "bin/program")},
	"the working directory isn't on a host": {job: through(`rm -r bin; eval "$2"`, "-n", "1", "--wdir", "bin", "true")},
	"a host is lost": {job: through(`eval "$2"`, "-n", "2", "sh", "-c", stay), do: func(j *job) {
		j.ready(2)
		for _, pid := range j.agents(false) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}},
	"INT while a host is awaited": {job: through(`echo ready >&2; echo ready >busy; exec sleep 60`, "-n", "1", "true"), do: func(j *job) {
		j.until("it is awaited", func() bool { _, err := os.Stat(j.cmd.Dir + "/busy"); return err == nil })
		j.signal(syscall.SIGINT)
	}},
}

const (
	last = "test $PMI_RANK = 1 || exec sleep 60; "
	stay = "echo ready; exec sleep 60"
)

func line(args ...string) func(*testing.T, string) *job {
	return func(t *testing.T, _ string) *job { return prepare(t, nil, args...) }
}

func sh(script string) func(*testing.T, string) *job { return line("-n", "2", "sh", "-c", script) }

func as(rank string) func(*testing.T, string) *job {
	return func(t *testing.T, _ string) *job { return prepareRanks(t, rank, "-n", "2") }
}

// through is a job on another host, whose launch agent does this. There is a program
// of its own.
func through(script string, args ...string) func(*testing.T, string) *job {
	return func(t *testing.T, dir string) *job {
		write(t, dir+"/agent", "#!/bin/sh\n"+script+"\n", 0o700)
		write(t, dir+"/bin/program", "#!/bin/sh\n", 0o700)
		return prepare(t, nil, append([]string{"--host", otherHosts[0], "--launch-agent", "./agent"}, args...)...)
	}
}

// to is a job with this file as its standard output, or a pipe that nobody reads.
func to(name, script string) func(*testing.T, string) *job {
	return func(t *testing.T, dir string) *job {
		j := sh(script)(t, dir)
		var f *os.File
		var err error
		if name == "|" {
			var r *os.File
			if r, f, err = os.Pipe(); err == nil {
				_ = r.Close()
			}
		} else if f, err = os.OpenFile(name, os.O_WRONLY, 0); err != nil {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		j.cmd.Stdout = f
		return j
	}
}

// file is a job whose program is a file or its folder, or one with these
// arguments.
func file(name, text string, mode os.FileMode, args ...string) func(*testing.T, string) *job {
	return func(t *testing.T, dir string) *job {
		write(t, filepath.Join(dir, name), text, mode)
		if args != nil {
			return prepare(t, nil, args...)
		}
		if sub := filepath.Dir(name); sub != "." {
			return prepare(t, nil, "-n", "2", "./"+sub)
		}
		return prepare(t, nil, "-n", "2", "./"+name)
	}
}

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func send(s syscall.Signal) func(j *job) {
	return func(j *job) {
		j.ready(2)
		j.signal(s)
	}
}

var row = regexp.MustCompile(`(?m)^\| (.*) \| (\d+) \| (.*) \|$`)

// Each row of the documented table is so, and each case here is documented.
func TestExitTable(t *testing.T) {
	doc, err := os.ReadFile("../../docs/LAUNCHING.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(doc), -1) {
		name, prints := m[1], m[3]
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			c, ok := exits[name]
			if !ok {
				t.Fatal("no test for this row")
			}
			dir := t.TempDir()
			j := c.job(t, dir)
			j.cmd.Dir = dir
			j.start()
			if c.do != nil {
				c.do(j)
			}
			status := j.wait()
			if ws, ok := j.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
				status = 128 + int(ws.Signal()) // as a shell has it
			}
			if want, _ := strconv.Atoi(m[2]); status != want {
				t.Errorf("status %d, expected %d", status, want)
			}
			if errs := j.err.String(); !said(prints).MatchString(errs) {
				t.Errorf("%q, expected %s", errs, prints)
			}
		})
	}
	for name := range exits {
		if !seen[name] {
			t.Errorf("not documented: %s", name)
		}
	}
}

// said makes an expression of the table's last column. Ranks may print, too,
// before the launcher's only line.
func said(prints string) *regexp.Regexp {
	text, ok := strings.CutPrefix(prints, "`")
	text, _ = strings.CutSuffix(text, "`")
	switch {
	case prints == "nothing":
		return regexp.MustCompile(`^$`)
	case !ok: // in words
		return regexp.MustCompile(`^[^v]`)
	}
	text = regexp.QuoteMeta(text)
	text = strings.ReplaceAll(text, "pid P", "pid [0-9]+")
	text = strings.ReplaceAll(text, "…", ".*")
	return regexp.MustCompile(`^([^v].*\n|\n)*verbrun: ` + text + `\n$`)
}
