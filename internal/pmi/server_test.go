package pmi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// One rank's whole conversation, as on the wire.
func TestConversation(t *testing.T) {
	j := newJob(t, 1)
	lines := newLineReader(j.conns[0])
	_ = j.conns[0].SetDeadline(time.Now().Add(5 * time.Second))
	for _, step := range []struct{ say, want string }{
		{"cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1"},
		{"cmd=get_maxes", "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024"},
		{"cmd=get_appnum", "cmd=appnum rc=0 appnum=0"},
		{"cmd=get_universe_size", "cmd=universe_size rc=0 size=1"},
		{"cmd=get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=test"},
		{"cmd=get kvsname=test key=PMI_process_mapping", "cmd=get_result rc=0 msg=success value=(vector,(0,1,1))"},
		{"cmd=get kvsname=test key=none", "cmd=get_result rc=-1 msg=key_not_found value=unknown"},
		{"cmd=get kvsname=other key=none", "cmd=get_result rc=-1 msg=unknown_kvsname"},
		{"cmd=put kvsname=test key=k value=v", "cmd=put_result rc=0 msg=success"},
		{"cmd=put kvsname=test key=k value=v", "cmd=put_result rc=-1 msg=duplicate_key"},
		{"cmd=put kvsname=test key=PMI_process_mapping value=v", "cmd=put_result rc=-1 msg=duplicate_key"},
		{"cmd=put kvsname=other key=k2 value=v", "cmd=put_result rc=-1 msg=unknown_kvsname"},
		{"cmd=put kvsname=test key=" + strings.Repeat("k", 65) + " value=v", "cmd=put_result rc=-1 msg=key_length"},
		{"cmd=put kvsname=test key=k3 value=" + strings.Repeat("v", 1025), "cmd=put_result rc=-1 msg=value_length"},
		{"cmd=put kvsname=test key=k3", "cmd=put_result rc=-1 msg=value_length"},
		{"cmd=dance", "cmd=unknown_result rc=-1 msg=unknown_command"},
		{"cmd=lookup_name service=x", "cmd=lookup_result rc=-1 msg=unknown_command"},
		{"cmd=barrier_in", "cmd=barrier_out rc=0"},
		{"cmd=finalize", "cmd=finalize_ack rc=0"},
	} {
		if _, err := fmt.Fprintln(j.conns[0], step.say); err != nil {
			t.Fatal(err)
		}
		got, err := lines.next()
		if err != nil || string(got) != step.want {
			t.Fatalf("%.80s\n got %s, %v\nwant %s", step.say, got, err, step.want)
		}
	}
	if err := j.end(t, 0); err != nil {
		t.Error(err)
	}
	if joined, finalized := j.Joined(0); !joined || !finalized {
		t.Error(joined, finalized)
	}
}

// Requests that come together are answered together, whatever is among them.
func TestBatch(t *testing.T) {
	j := newJob(t, 1)
	c := j.clients(t)[0]
	if err := c.Put(t.Context(), "test", "k", "v"); err != nil {
		t.Fatal(err)
	}
	c.Ours = true
	keys := slices.Repeat([]string{"k"}, 3*batch+1)
	if got, err := c.GetMany(t.Context(), "test", keys); err != nil || len(got) != len(keys) || strings.Join(got, "") != strings.Repeat("v", len(keys)) {
		t.Error(got, err)
	}
	keys[70] = "none"
	if _, err := c.GetMany(t.Context(), "test", keys); err == nil || !strings.Contains(err.Error(), "key none") {
		t.Error(err)
	}
	if got, err := c.Get(t.Context(), "test", "k"); err != nil || got != "v" {
		t.Error("out of step:", got, err)
	}
	lines := newLineReader(j.conns[0])
	if _, err := j.conns[0].Write([]byte("cmd=get kvsname=test key=k\ncmd=abort exitcode=3\n")); err != nil {
		t.Fatal(err)
	}
	if got, err := lines.next(); err != nil || !strings.HasSuffix(string(got), "value=v") {
		t.Errorf("%s, %v", got, err)
	}
	if e := j.events.next(t); e.name != "abort" || e.code != 3 {
		t.Error(e)
	}
}

// Whoever breaks the protocol is told, and the launcher is.
func TestViolations(t *testing.T) {
	const hello = "cmd=init pmi_version=1 pmi_subversion=1\n"
	for _, c := range []struct {
		say, want string
		err       error
	}{
		{"garbage\n", "garbage", ErrMalformed},
		{"cmd=ini", "ended inside a line", ErrMalformed},
		{"\x00\x01\x02\n", "control", ErrMalformed},
		{strings.Repeat("x", MaxLine+10), "newline", ErrTooLong},
		{"cmd=get_maxes\n", "before init", ErrProtocol},
		{hello + hello, "init twice", ErrProtocol},
		{hello + "cmd=barrier_in\ncmd=barrier_in\n", "while in a barrier", ErrProtocol},
		{hello + "mcmd=spawn\nnprocs=1\n", "isn't supported", ErrProtocol},
	} {
		j := newJob(t, 2)
		told := make(chan string, 1)
		go func() {
			l := newLineReader(j.conns[0])
			last := ""
			for {
				b, err := l.next()
				if err != nil {
					told <- last
					return
				}
				last = string(b)
			}
		}()
		// One write per line: a pipe has no buffer, and the server may stop.
		for line := range strings.SplitAfterSeq(c.say, "\n") {
			_, _ = j.conns[0].Write([]byte(line))
		}
		if !strings.HasSuffix(c.say, "\n") && len(c.say) < MaxLine {
			_ = j.conns[0].Close()
		}
		if err := j.end(t, 0); !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v; expected %v with %q", c.say, err, c.err, c.want)
		}
		if got := <-told; strings.HasSuffix(c.say, "\n") && !strings.HasPrefix(got, "cmd=error rc=-1 msg=") {
			t.Errorf("%.60q: the rank was told %q", c.say, got)
		}
	}
}

func TestWrongVersion(t *testing.T) {
	j := newJob(t, 1)
	c := NewClient(0, j.conns[0])
	_, err := c.Do(t.Context(), time.Second, "response_to_init", Msg("init", "pmi_version", "2", "pmi_subversion", "0"))
	if _, ok := errors.AsType[*RefusedError](err); !ok {
		t.Error(err)
	}
	if err := c.Init(t.Context()); err != nil { // and may try again
		t.Error(err)
	}
}

// Eight ranks put, meet, and get everybody's, several times.
func TestExchange(t *testing.T) {
	const size, rounds = 8, 5
	j := newJob(t, size)
	cs := j.clients(t)
	g, ctx := errgroup.WithContext(t.Context())
	for r, c := range cs {
		g.Go(func() error {
			for i := range rounds {
				if err := c.Put(ctx, "test", fmt.Sprint("k", i, ".", r), fmt.Sprint("v", i*r)); err != nil {
					return err
				}
				if err := c.Barrier(ctx); err != nil {
					return err
				}
				for q := range size {
					v, err := c.Get(ctx, "test", fmt.Sprint("k", i, ".", q))
					if want := fmt.Sprint("v", i*q); err != nil || v != want {
						return fmt.Errorf("rank %d of rank %d: %q, %w; expected %q", r, q, v, err, want)
					}
				}
			}
			return c.Finalize(ctx)
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// An abort is heard while the rank waits in a barrier.
func TestAbortInBarrier(t *testing.T) {
	j := newJob(t, 2)
	cs := j.clients(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- cs[0].Barrier(ctx) }()
	poll(t, "rank 0 waits", func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.ranks[0].waiting
	})
	if err := cs[0].Abort(7, "too hot = 100% \n"); err != nil {
		t.Error(err)
	}
	if got, want := j.events.next(t), (event{"abort", 0, 7, "too hot = 100%  "}); got != want {
		t.Errorf("%+v; expected %+v", got, want)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := cs[0].Barrier(t.Context()); err == nil || !strings.Contains(err.Error(), "after an earlier failure") {
		t.Error("the answer of the first barrier could be taken for the second's:", err)
	}
}

// A barrier that can't be completed is reported, whoever comes first.
func TestStuck(t *testing.T) {
	for name, leave := range map[string]func(*job, *Client) error{
		"finalized": func(j *job, c *Client) error { return c.Finalize(context.Background()) },
		"exited":    func(j *job, _ *Client) error { j.Exited(1); return nil },
	} {
		for _, first := range []bool{true, false} {
			j := newJob(t, 2)
			cs := j.clients(t)
			wait := func() { go func() { _ = cs[0].Barrier(context.Background()) }() }
			if !first {
				wait()
			}
			if err := leave(j, cs[1]); err != nil {
				t.Fatal(name, err)
			}
			if first {
				wait()
			}
			if got, want := j.events.next(t), (event{"stuck", 0, 1, ""}); got != want {
				t.Errorf("%s: %+v; expected %+v", name, got, want)
			}
		}
	}
}

func poll(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("didn't happen: ", what)
		}
	}
}
