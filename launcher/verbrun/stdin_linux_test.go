package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Rank 0 has it, to the byte; the others are at its end at once.
func TestStdin(t *testing.T) {
	data := make([]byte, 8<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	j := prepareRanks(t, "sum", "-n", "3")
	j.cmd.Stdin = bytes.NewReader(data)
	status := j.start().wait()
	for _, want := range []string{
		fmt.Sprintf("0 %d %x <nil>\n", len(data), sha256.Sum256(data)),
		fmt.Sprintf("1 0 %x <nil>\n", sha256.Sum256(nil)),
		fmt.Sprintf("2 0 %x <nil>\n", sha256.Sum256(nil)),
	} {
		if status != 0 || !strings.Contains(j.out.String(), want) {
			t.Errorf("%d: no %q in %q", status, want, j.out.String())
		}
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
