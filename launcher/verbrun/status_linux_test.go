package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The exit status is the first failing rank's, and one line says why.
func TestStatus(t *testing.T) {
	for _, c := range []struct {
		n      int
		script string // of a shell, per rank
		status int
		line   string // after "verbrun: "; P stands for a pid
	}{
		{1, "true", 0, ""},
		{3, "exit 0", 0, ""},
		{3, `exit $PMI_RANK`, -1, `rank [12] \(pid P\) exited with status [12]`},
		{2, `test $PMI_RANK = 0 || exit 3; exec sleep 60`, 3, `rank 1 \(pid P\) exited with status 3`},
		{2, `test $PMI_RANK = 1 || kill -SEGV $$; exec sleep 60`, 139, `rank 0 \(pid P\) was killed by SIGSEGV( \(core dumped\))?`},
		{2, `test $PMI_RANK = 1 || kill -KILL $$; exec sleep 60`, 137, `rank 0 \(pid P\) was killed by SIGKILL`},
		{1, `kill -RTMIN $$`, 162, `rank 0 \(pid P\) was killed by signal 34`},
		{1, `exit 255`, 255, `rank 0 \(pid P\) exited with status 255`},
		{1, `echo garbage >&3; sleep 60`, 1, `rank 0 \(pid P\) broke the protocol of its launcher: .*"garbage".*`},
		{1, `head -c 100000 /dev/zero | tr '\0' x >&3; sleep 60`, 1, `rank 0 \(pid P\) broke the protocol of its launcher: PMI message too long: .*`},
		{1, `echo cmd=barrier_in >&3; sleep 60`, 1, `rank 0 \(pid P\) broke the protocol .*barrier_in.* before init`},
		{1, `echo cmd=abort exitcode=300 >&3; sleep 60`, 44, `rank 0 \(pid P\) called abort with status 300`},
		{1, `echo cmd=abort exitcode=0 >&3; exit 0`, 1, `rank 0 \(pid P\) called abort with status 0`},
	} {
		start := time.Now()
		status, out, errs := verbrun(t, "-n", fmt.Sprint(c.n), "sh", "-c", c.script)
		want := ""
		if c.line != "" {
			want = "verbrun: " + strings.ReplaceAll(c.line, "pid P", "pid [0-9]+") + "\n"
		}
		if c.status >= 0 && status != c.status || c.status < 0 && status == 0 || out != "" || !regexp.MustCompile("^"+want+"$").MatchString(errs) {
			t.Errorf("%s\nstatus %d, expected %d\nstdout: %s\nstderr: %s", c.script, status, c.status, out, errs)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%s: took %v", c.script, took)
		}
	}
}

// What goes wrong before there are ranks.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	file := dir + "/file"
	script := dir + "/script"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		status int
		line   string
	}{
		{"", 2, "no program given"},
		{"true", 2, "how many ranks? Say -n N"},
		{"-n 2", 2, "no program given"},
		{"-n 0 true", 2, "0 ranks"},
		{"-n -3 true", 2, "-3 ranks"},
		{"-n 99999 true", 2, "99999 ranks: expected at most"},
		{"-n abc true", 2, `"abc"`},
		{"-n 2 --frobnicate true", 2, "--frobnicate"},
		{"-n 2 --bind-to socket true", 2, `--bind-to: "socket"`},
		{"-n 2 --timeout 0s true", 2, "--timeout: 0s"},
		{"-n 2 --timeout soon true", 2, `"soon"`},
		{"-n 2 no-such-program", 127, "no-such-program: not found in PATH"},
		{"-n 2 ./no-such-program", 127, "./no-such-program: no such file"},
		{"-n 2 " + file, 126, "not executable"},
		{"-n 2 " + dir, 126, "a directory without Go files"},
		{"-n 2 " + script, 127, "no such file or directory (or the interpreter that it names is missing)"},
	} {
		status, out, errs := verbrun(t, strings.Fields(c.args)...)
		if status != c.status || out != "" || !strings.HasPrefix(errs, "verbrun: ") || !strings.Contains(errs, c.line) || strings.Count(errs, "\n") != 1 {
			t.Errorf("verbrun %s: status %d, expected %d\nstdout: %s\nstderr: %s", c.args, status, c.status, out, errs)
		}
	}
}

// The program's arguments are the program's, whatever they look like.
func TestArguments(t *testing.T) {
	odd := []string{"-n", "--version", "a b", "", "x=y,z", "tab\tnewline\nquote\"'$HOME", "\xff\xfe", "--", "-np"}
	for _, flags := range [][]string{{"-n", "1"}, {"-np", "1"}, {"--np", "1"}, {"-n1"}, {"-n", "1", "--"}, {"--verbose=false", "-np", "1", "--bind-to", "none"}, {"--bind-to", "core", "--np", "1"}} {
		status, out, errs := verbrun(t, append(append(flags, "printf", `%s\0`), odd...)...)
		if want := strings.Join(odd, "\x00") + "\x00"; status != 0 || out != want {
			t.Errorf("%v: status %d\n%q\n%q, expected\n%q", flags, status, errs, out, want)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, arg := range []string{"-h", "--help", "--version"} {
		status, out, errs := verbrun(t, arg)
		if status != 0 || errs != "" || !strings.Contains(strings.ToLower(out), "verbrun") {
			t.Errorf("%s: %d, %q, %q", arg, status, out, errs)
		}
	}
}

// The first rank to die is the one to blame, and not one that dies of it a
// moment later.
func TestDeathOrder(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	for i := range rounds {
		as := []string{"death", "abort death"}[i%2]
		status, _, errs := ranks(t, fmt.Sprintf("%s:verbrun-test-%d-%d", as, os.Getpid(), i), "-n", "2")
		if status != 137 || !strings.Contains(errs, "rank 1 (pid ") {
			t.Fatalf("round %d: status %d: %s", i, status, errs)
		}
	}
}

func TestTimeout(t *testing.T) {
	status, out, errs := verbrun(t, "-n", "4", "--timeout", "1s", "sh", "-c", `echo $PMI_RANK; test $PMI_RANK = 2 || exec sleep 60`)
	if status != 124 || strings.Count(out, "\n") != 4 || errs != "verbrun: time limit of 1s reached; still running: rank 0-1,3\n" {
		t.Errorf("%d, %q, %q", status, out, errs)
	}
	if status, _, errs := verbrun(t, "-n", "2", "--timeout", "20s", "true"); status != 0 {
		t.Errorf("%d, %q", status, errs)
	}
}
