package pmi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answers is a server that reads a line and says the next of its answers; an
// empty one is silence, and after the last it closes.
func answers(conn net.Conn, lines ...string) {
	defer func() { _ = conn.Close() }()
	l := newLineReader(conn)
	for _, a := range lines {
		if _, err := l.next(); err != nil {
			return
		}
		if a != "" {
			if _, err := fmt.Fprintln(conn, a); err != nil {
				return
			}
		}
	}
}

func TestClientErrors(t *testing.T) {
	for _, c := range []struct {
		answer, want string
		is           error
	}{
		{"cmd=get_result rc=0 value=x", "", nil},
		{"cmd=put_result rc=0", "expected get_result, got \"put_result\"", ErrMalformed},
		{"nonsense", "nonsense", ErrMalformed},
		{"cmd=get_result rc=0", "no value for key k", ErrMalformed},
		{"cmd=get_result rc=1", "rc=1", nil},
		{"cmd=get_result rc=-1 msg=key%20lost value=unknown", "key lost", nil},
		{"cmd=error rc=-1 msg=you%20lied", "you lied", nil},
		{strings.Repeat("x", MaxLine+1), "without a newline", ErrTooLong},
	} {
		ours, theirs := net.Pipe()
		go answers(theirs, c.answer)
		_, err := NewClient(3, ours).Get(t.Context(), "n", "k")
		switch {
		case c.want == "" && err == nil:
		case c.want == "" || err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is):
			t.Errorf("%.40s: %v; expected %q", c.answer, err, c.want)
		case !strings.Contains(err.Error(), "rank 3") || !strings.Contains(err.Error(), "get"):
			t.Errorf("%v doesn't say who and what", err)
		}
		_ = ours.Close()
	}
}

func TestClientGone(t *testing.T) {
	ours, theirs := net.Pipe()
	go answers(theirs, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1")
	c := NewClient(1, ours)
	if err := c.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := c.Barrier(t.Context())
	if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "the launcher is gone (expected barrier_out)") {
		t.Error(err)
	}
}

// A silent server costs the limit of the step and no more.
func TestClientLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			call  func(*Client, context.Context) error
			limit time.Duration
		}{
			{(*Client).Init, AnswerTimeout},
			{(*Client).Barrier, BarrierTimeout},
			{(*Client).Finalize, AnswerTimeout},
		} {
			ours, theirs := net.Pipe()
			go answers(theirs, "", "")
			start := time.Now()
			err := c.call(NewClient(0, ours), t.Context())
			if took := time.Since(start); !errors.Is(err, os.ErrDeadlineExceeded) || took != c.limit {
				t.Errorf("%v after %v, expected %v", err, took, c.limit)
			}
			_ = ours.Close()
		}
		ours, theirs := net.Pipe()
		go answers(theirs, "", "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		err := NewClient(0, ours).Barrier(ctx)
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("%v after %v", err, took)
		}
		_ = ours.Close()
		synctest.Wait()
	})
}

// Abort returns even if nobody reads.
func TestAbortDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		start := time.Now()
		if err := NewClient(0, ours).Abort(1, "why"); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Error(took)
		}
		_, _ = ours.Close(), theirs.Close()
	})
}

// A context that has ended before the call breaks nothing.
func TestClientCanceledBefore(t *testing.T) {
	j := newJob(t, 1)
	c := j.clients(t)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Barrier(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := c.Barrier(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestInitAck(t *testing.T) {
	for _, c := range []struct {
		say        string
		rank, size int
	}{
		{"cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=1\ncmd=set debug=0\n", 1, 4},
		{"cmd=initack\ncmd=set size=4\ncmd=set rank=4\ncmd=set debug=0\n", -1, 0},
		{"cmd=initack\ncmd=set size=4\ncmd=set debug=0\ncmd=set x=0\n", -1, 0},
		{"cmd=set size=4\n", -1, 0},
		{"junk\n", -1, 0},
		{"", -1, 0},
	} {
		ours, theirs := net.Pipe()
		go answers(theirs, strings.TrimSuffix(c.say, "\n"))
		rank, size, err := InitAck(t.Context(), ours, "7")
		if (err == nil) != (c.rank >= 0) || err == nil && (rank != c.rank || size != c.size) {
			t.Errorf("%q: %d of %d, %v", c.say, rank, size, err)
		}
		_ = ours.Close()
	}
}
