package commtest

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/launcher"
)

// Times that a process has beyond the limit, before it ends itself in case the
// launcher can't, and that the launcher's output has to come.
const (
	afterLaunch = 20 * time.Second
	afterOutput = 5 * time.Second
)

// launch starts the processes and judges them.
func launch(t *testing.T, n int, call string, o options) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("commtest: %v", err)
	}
	out := newPipe(t)
	res, err := launcher.Run(t.Context(), launcher.Job{
		Parts: []launcher.Part{{
			Ranks: n, Program: self, Args: childArgs(t, o.limit+afterLaunch), Env: []string{callEnv + "=" + call},
		}},
		Input: launcher.InputNone, Output: launcher.Output{Tag: true},
		Bind: launcher.BindNone, Timeout: o.limit,
		Stdout: out.w, Stderr: out.w,
	})
	ranks, text := said(out.read())
	text = strings.Replace(text, "verbrun: "+res.Why+"\n", "", 1) // it comes first here
	switch {
	case err != nil:
		t.Fatalf("commtest: %v\n%s", err, text)
	case res.Status != 0:
		t.Fatalf("commtest: %s\n%s", res.Why, text)
	case len(ranks) != n:
		t.Fatalf("commtest: of %d processes only those of ranks %v came to the call of Processes: does the test take another way in them?\n%s", n, ranks, text)
	case text != "":
		t.Logf("commtest:\n%s", text)
	}
}

// pipe collects what the launcher prints.
type pipe struct {
	r, w *os.File
	all  bytes.Buffer
	done chan struct{}
}

func newPipe(t *testing.T) *pipe {
	t.Helper()
	p := &pipe{done: make(chan struct{})}
	var err error
	if p.r, p.w, err = os.Pipe(); err != nil {
		t.Fatalf("commtest: %v", err)
	}
	go func() {
		defer close(p.done)
		_, _ = io.Copy(&p.all, p.r) // an error: of the deadline
	}()
	return p
}

// read returns what was printed, after the launcher's end.
func (p *pipe) read() string {
	_ = p.w.Close()
	_ = p.r.SetReadDeadline(time.Now().Add(afterOutput)) // in case somebody has the other end
	<-p.done
	_ = p.r.Close()
	return p.all.String()
}
