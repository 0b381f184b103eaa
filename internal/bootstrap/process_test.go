//go:build unix

package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/pmi"
)

// The test binary is also the ranks.
func TestMain(m *testing.M) {
	if as := os.Getenv("BOOTSTRAP_TEST_RANK"); as != "" {
		if err := asRank(as); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// A child with the race detector would sleep a second when it exits.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

func asRank(as string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	j, err := FromEnv(ctx)
	if err != nil {
		return err
	}
	switch as {
	case "place":
		fmt.Printf("%d of %d\n", j.Rank, j.Size)
	case "exchange":
		for i := range 3 {
			all, err := j.Exchange(ctx, "addr", value(i+4, j.Rank))
			if err != nil {
				return err
			}
			for r, v := range all {
				if !bytes.Equal(v, value(i+4, r)) {
					return fmt.Errorf("rank %d has another value of rank %d", j.Rank, r)
				}
			}
		}
		fmt.Printf("%d of %d agrees\n", j.Rank, j.Size)
	case "child":
		if err := j.Close(ctx); err != nil {
			return err
		}
		if _, err := FromEnv(ctx); err == nil {
			return errors.New("joined twice")
		}
		fallthrough
	case "early child": // while the parent is still a rank
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "BOOTSTRAP_TEST_RANK=place")
		out, err := cmd.CombinedOutput()
		fmt.Printf("child: %s", out)
		if err != nil {
			return err
		}
	case "gone":
		fmt.Println("joined")
		err := j.Barrier(ctx)
		if !errors.Is(err, ErrGone) {
			return fmt.Errorf("expected the launcher gone, got %w", err)
		}
		fmt.Println(err)
		return nil
	case "barrier":
		if err := j.Barrier(ctx); err != nil {
			return err
		}
		return errors.New("expected an error")
	case "wait": // for what goes wrong
		fmt.Println("joined")
		fmt.Println(j.Barrier(ctx))
		return nil
	case "exit":
		os.Exit(3)
	case "hold": // until it is told
		fmt.Println("joined")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "abort":
		j.Abort(7, "for a test")
		os.Exit(9)
	}
	return j.Close(ctx)
}

// oneRank runs a rank of a job of one, served by serve.
func oneRank(t *testing.T, as string, serve func(pmi.Conn) error) (string, error) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	ours, err := adopt(fds[0], "ours")
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "rank")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "BOOTSTRAP_TEST_RANK="+as, "PMI_FD=3", "PMI_RANK=0", "PMI_SIZE=1", "PMI_JOBID=4.0", "SLURM_STEP_NUM_TASKS=4")
	cmd.ExtraFiles = []*os.File{theirs}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	served := make(chan error, 1)
	go func() { served <- serve(ours) }()
	err = cmd.Wait()
	if serr := <-served; serr != nil {
		t.Error("serving:", serr)
	}
	return out.String(), err
}

func serveOne(c pmi.Conn) error { return pmi.NewServer("verbrun-x", 1, noEvents{}).Serve(0, c) }

func TestProcess(t *testing.T) {
	for as, want := range map[string]string{
		"place":       "0 of 1\n",
		"exchange":    "0 of 1 agrees\n",
		"child":       "child: 0 of 1\n",
		"early child": "child: 0 of 1\n",
	} {
		if out, err := oneRank(t, as, serveOne); err != nil || out != want {
			t.Errorf("%s: %q, %v; expected %q", as, out, err, want)
		}
	}
}

func TestLauncherGone(t *testing.T) {
	out, err := oneRank(t, "gone", func(c pmi.Conn) error {
		defer func() { _ = c.Close() }()
		buf := make([]byte, pmi.MaxLine)
		for _, answer := range []string{
			"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
			"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
			"cmd=my_kvsname kvsname=kvs_0\n", "",
		} {
			if _, err := c.Read(buf); err != nil {
				return err
			}
			if _, err := c.Write([]byte(answer)); err != nil {
				return err
			}
		}
		return nil
	})
	if want := "joined\npmi: rank 0: barrier_in: the launcher is gone (expected barrier_out)\n"; err != nil || out != want {
		t.Errorf("%q, %v; expected %q", out, err, want)
	}
}

// A descriptor that isn't a launcher's is not written to.
func TestStaleDescriptor(t *testing.T) {
	name := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(name, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for fd, want := range map[string]string{"1": "not a", "3": "not a socket", "77": "bad file descriptor"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "BOOTSTRAP_TEST_RANK=place", "PMI_FD="+fd, "PMI_RANK=0", "PMI_SIZE=2")
		cmd.ExtraFiles = []*os.File{file}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), want) || !strings.Contains(string(out), "PMI_FD="+fd) {
			t.Errorf("PMI_FD=%s: %s, %v", fd, out, err)
		}
		if strings.Contains(string(out), "cmd=init") {
			t.Errorf("PMI_FD=%s was written to: %s", fd, out)
		}
	}
	if b, _ := os.ReadFile(name); string(b) != "data" {
		t.Errorf("the file was written to: %q", b)
	}
}

func TestAdoptDatagram(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = syscall.Close(fds[0]), syscall.Close(fds[1]) }()
	if _, err := adopt(fds[0], "x"); err == nil {
		t.Error("took a datagram socket")
	}
}
