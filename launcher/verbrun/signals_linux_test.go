package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Each signal arrives as itself, once, at every rank.
func TestSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		j := prepareRanks(t, "signals", "-n", "2").start()
		j.ready(2)
		j.signal(s)
		want := fmt.Sprintf("got %v\n", s)
		if status := j.wait(); status != 0 || strings.Count(j.out.String(), want) != 2 || strings.Count(j.out.String(), "got") != 2 || j.err.String() != "" {
			t.Errorf("%v: status %d\n%s\n%s", s, status, j.out.String(), j.err.String())
		}
	}
}

// The runtime's own signal stays ours.
func TestUrgentStaysHere(t *testing.T) {
	j := prepareRanks(t, "signals:quiet", "-n", "1").start()
	j.ready(1)
	for range 10 {
		j.signal(syscall.SIGURG)
	}
	j.signal(syscall.SIGUSR1)
	j.until("USR1", func() bool { return strings.Contains(j.out.String(), "user defined signal 1") })
	j.signal(syscall.SIGINT)
	j.until("INT", func() bool { return strings.Contains(j.out.String(), "got interrupt") })
	j.signal(syscall.SIGINT)
	if status := j.wait(); status != 130 || strings.Contains(j.out.String(), "urgent") {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}

// The second interrupt kills whoever didn't mind the first.
func TestSecondInterrupt(t *testing.T) {
	j := prepareRanks(t, "signals:quiet", "-n", "3").start()
	j.ready(3)
	j.signal(syscall.SIGINT)
	j.until("INT at all ranks", func() bool { return strings.Count(j.out.String(), "got interrupt\n") == 3 })
	start := time.Now()
	j.signal(syscall.SIGINT)
	if status := j.wait(); status != 130 || j.err.String() != "verbrun: interrupted twice: all ranks killed\n" {
		t.Errorf("%d, %q", status, j.err.String())
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

// A signal reaches what a rank has started, as from a terminal; the first rank
// to die of it is the job's status.
func TestSignalGroup(t *testing.T) {
	j := prepare(t, nil, "-n", "2", "sh", "-c", "echo ready; sleep 60; exit 0").start()
	j.ready(2)
	j.signal(syscall.SIGTERM)
	if status := j.wait(); status != 143 || !strings.Contains(j.err.String(), "was killed by SIGTERM\n") {
		t.Errorf("%d, %q", status, j.err.String())
	}
}

// nohup's wish is the ranks' too.
func TestNohup(t *testing.T) {
	nohup, err := exec.LookPath("nohup")
	if err != nil {
		t.Skip("no nohup")
	}
	j := prepare(t, nil)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	j.cmd.Path, j.cmd.Args = bash, []string{"bash", "-c", `exec -a verbrun "$0" -n 2 sh -c "echo ready; read x; echo \$PMI_RANK survived" `, self()}
	j.cmd.Path, j.cmd.Args = nohup, append([]string{"nohup", bash}, j.cmd.Args[1:]...)
	in, err := j.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	j.start()
	j.until("ready", func() bool { return strings.Count(j.out.String(), "ready\n") == 2 })
	j.signal(syscall.SIGHUP)
	_ = in.Close()
	if status := j.wait(); status != 0 || !strings.Contains(j.out.String(), "0 survived\n") {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}

// Whoever ignores TERM is killed soon after, with all it has started, and
// that includes what has left its process group and its parent.
func TestStubborn(t *testing.T) {
	script := `trap "" TERM INT HUP
		setsid sh -c 'trap "" TERM; echo ready; while :; do sleep 60; done' &
		(setsid setsid sleep 77 &)
		test $PMI_RANK != 1 || { read x < "$FIFO"; exit 5; }
		while :; do sleep 60; done`
	fifo := t.TempDir() + "/fifo"
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	j := prepare(t, []string{"FIFO=" + fifo}, "-n", "3", "sh", "-c", script).start()
	j.ready(3)
	if n := len(j.processes()); n < 3*3+2 {
		t.Errorf("only %d processes", n)
	}
	start := time.Now()
	if err := os.WriteFile(fifo, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	if status := j.wait(); status != 5 || !strings.HasSuffix(j.err.String(), "exited with status 5\n") {
		t.Errorf("%d, %q", status, j.err.String())
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}
