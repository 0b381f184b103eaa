package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// random is so many bytes of input, and what a rank that reads them all says.
func random(n int) (data []byte, said func(rank int) string) {
	data = make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i+8 <= len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], r.Uint64())
	}
	sum := sha256.Sum256(data)
	return data, func(rank int) string { return fmt.Sprintf("%d %d %x <nil>\n", rank, n, sum) }
}

// Those who are to have it get all, to the byte; the others are at its end at
// once.
func TestStdin(t *testing.T) {
	data, all := random(64 << 20)
	_, nothing := random(0)
	for mode, want := range map[string][]string{
		"":     {all(0), nothing(1), nothing(2)},
		"0":    {all(0), nothing(1), nothing(2)},
		"all":  {all(0), all(1), all(2)},
		"none": {nothing(0), nothing(1), nothing(2)},
	} {
		j := prepareRanks(t, "sum", "-n", "3", "--stdin="+mode)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		j.cmd.Stdin = r
		j.start()
		_ = r.Close()
		_, werr := w.Write(data)
		_ = w.Close()
		if status := j.wait(); status != 0 || (werr != nil) != (mode == "none") {
			t.Errorf("%q: status %d, %v", mode, status, werr)
		}
		for _, line := range want {
			if !strings.Contains(j.out.String(), line) {
				t.Errorf("%q: no %q in %q", mode, line, j.out.String())
			}
		}
	}
}

// counted counts what was taken.
type counted struct {
	r io.Reader
	n atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// A slow reader sets the pace, and loses nothing.
func TestStdinSlowReader(t *testing.T) {
	data, all := random(64 << 20)
	for _, mode := range []string{"0", "all"} {
		slow := "0"
		if mode == "all" {
			slow = "1" // while rank 0 reads
		}
		in := &counted{r: bytes.NewReader(data)}
		j := prepareRanks(t, "sum:"+slow, "-n", "2", "--stdin", mode)
		j.cmd.Stdin = in
		j.start()
		j.ready(1)
		j.until("input taken", func() bool { return in.n.Load() >= 64<<10 })
		if n := in.n.Load(); n > 1<<20 { // three pipes, two buffers
			t.Errorf("%s: %d bytes taken, and nobody reads", mode, n)
		}
		// Rank 0 has no handler for it, so not through the launcher.
		for _, pid := range j.processes() {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			if bytes.Contains(b, []byte("PMI_RANK="+slow)) {
				_ = syscall.Kill(pid, syscall.SIGUSR1)
			}
		}
		if status := j.wait(); status != 0 || !strings.Contains(j.out.String(), all(0)) {
			t.Errorf("%s: %d, %q", mode, status, j.out.String())
		}
		if mode == "all" && !strings.Contains(j.out.String(), all(1)) {
			t.Errorf("%q", j.out.String())
		}
	}
}

// A rank that has gone holds nobody up, though a child of its holds the pipe.
func TestStdinRankGone(t *testing.T) {
	data, all := random(8 << 20)
	script := `test $PMI_RANK = 0 || { exec 4<&0; sleep 60 <&4 & exit 0; }; exec "$0"`
	j := prepare(t, []string{"VERBRUN_TEST_RANK=sum"}, "-n", "3", "--stdin=all", "sh", "-c", script, self())
	j.cmd.Stdin = bytes.NewReader(data)
	if status := j.start().wait(); status != 0 || j.out.String() != all(0) {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}

// The launcher takes nothing that the rank doesn't ask for: a shell's loop
// keeps its lines.
func TestStdinIsLeft(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	j := prepare(t, nil)
	j.cmd.Path = bash
	j.cmd.Args = []string{"bash", "-c", `while read line; do echo loop $line; (exec -a verbrun "$0" -n 2 true); done`, self()}
	j.cmd.Stdin = strings.NewReader("1\n2\n3\n")
	if status := j.start().wait(); status != 0 || j.out.String() != "loop 1\nloop 2\nloop 3\n" {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}

// An open stdin that nobody writes to holds nothing up.
func TestStdinOpen(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	j := prepare(t, nil, "-n", "2", "true")
	j.cmd.Stdin = r
	if status := j.start().wait(); status != 0 {
		t.Error(status)
	}
}

func TestStdinClosed(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	j := prepare(t, nil)
	j.cmd.Path = bash
	j.cmd.Args = []string{"bash", "-c", `exec -a verbrun "$0" -n 2 sh -c "cat; echo ok" <&-`, self()}
	if status := j.start().wait(); status != 0 || j.out.String() != "ok\nok\n" {
		t.Errorf("%d, %q, %q", status, j.out.String(), j.err.String())
	}
}
