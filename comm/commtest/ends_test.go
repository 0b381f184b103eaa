package commtest_test

import (
	"context"
	"errors"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/commtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hear waits for a message of rank 1.
func hear(ctx context.Context, c *comm.Comm) error {
	_, err := comm.Recv(ctx, c, make([]byte, 8), 1, 0)
	return err
}

// Rank 1 of three ends in each of the ways there are, while the others wait for it:
// one by name, one from anybody (who may hear of the first one's end before). The
// others hear of it, and the test fails with the culprit first.
func TestEnds(t *testing.T) {
	for _, end := range []struct {
		name string
		how  func(f *fake, ctx context.Context, c *comm.Comm) error
		want string // a regular expression for what is said of rank 1
	}{
		{
			"error",
			func(*fake, context.Context, *comm.Comm) error { return errors.New("no more paper\nin tray 2") },
			`rank 1 of 3: no more paper\nin tray 2`,
		},
		{
			"panic",
			func(*fake, context.Context, *comm.Comm) error { panic("out of cheese") },
			`(?s)rank 1 of 3: panic: out of cheese\n.*commtest_test\.TestEnds`,
		},
		{
			"nil dereference",
			func(*fake, context.Context, *comm.Comm) error {
				var p *fake
				p.failed = true
				return nil
			},
			`(?s)rank 1 of 3: panic: runtime error: invalid memory address.*commtest_test\.TestEnds`,
		},
		{
			"Goexit",
			func(*fake, context.Context, *comm.Comm) error { runtime.Goexit(); return nil },
			`rank 1 of 3: ended by runtime\.Goexit at \S+ends_test\.go:\d+`,
		},
		{
			"Abort",
			func(_ *fake, _ context.Context, c *comm.Comm) error {
				c.World().Abort(errors.New("the plate melts"))
				return nil
			},
			`rank 1 of 3: World\.Abort at \S+ends_test\.go:\d+: the plate melts`,
		},
		{
			"an open request",
			func(_ *fake, _ context.Context, c *comm.Comm) error {
				comm.Irecv(c, make([]byte, 1), 1, 5)
				return nil
			},
			``, // judged at the end, when the others have heard that it has finished
		},
	} {
		for _, device := range comm.Devices() {
			t.Run(end.name+"/"+device, func(t *testing.T) {
				f := new(fake)
				start := time.Now()
				returned := runFake(t, f, 3, func(f *fake, ctx context.Context, c *comm.Comm) error {
					switch c.Rank() {
					case 0:
						return hear(ctx, c)
					case 1:
						return end.how(f, ctx, c)
					}
					_, err := comm.Recv(ctx, c, make([]byte, 8), comm.AnySource, comm.AnyTag)
					return err
				}, commtest.Device(device))
				if returned || !f.failed {
					t.Errorf("returned: %v, failed: %v", returned, f.failed)
				}
				if d := time.Since(start); d > 20*time.Second {
					t.Errorf("it took %v", d)
				}
				if end.want == "" {
					return
				}
				first, rest, _ := strings.Cut(f.text(), "\ncommtest: ")
				if ok, err := regexp.MatchString("^commtest: "+end.want, first); !ok || err != nil {
					t.Errorf("%v: first is said:\n%s\nwant\n%s", err, first, end.want)
				}
				for _, line := range strings.Split("\ncommtest: "+rest, "\n")[1:] {
					if !regexp.MustCompile(`^commtest: rank [02] of 3, for that: comm: rank [02]: Recv\(.*\): rank [01] on \S+ is gone: its process has ended`).MatchString(line) {
						t.Errorf("a victim says %q", line)
					}
				}
				if n := strings.Count(f.text(), ", for that: "); n != 2 {
					t.Errorf("%d victims, want 2:\n%s", n, f.text())
				}
			})
		}
	}
}

// t.FailNow in a rank, by way of the real t.Fatal, is that rank's death too: see
// TestFails for what go test prints.
func TestFailNow(t *testing.T) {
	f := new(fake)
	runFake(t, f, 2, func(f *fake, ctx context.Context, c *comm.Comm) error {
		if c.Rank() == 1 {
			f.Fatal("wrong sum")
		}
		return hear(ctx, c)
	})
	want := regexp.MustCompile(`^wrong sum\ncommtest: rank 1 of 2: ended by .*\ncommtest: rank 0 of 2, for that: .*rank 1 on .* is gone`)
	if !want.MatchString(f.text()) {
		t.Errorf("%s", f.text())
	}
}

// What several ranks do wrong by themselves is all said; what follows is not first.
func TestTwoCulprits(t *testing.T) {
	f := new(fake)
	runFake(t, f, 3, func(_ *fake, ctx context.Context, c *comm.Comm) error {
		if c.Rank() == 0 {
			return hear(ctx, c)
		}
		return errors.New("mine")
	})
	if n := strings.Count(f.text(), "of 3: mine"); n != 2 || !strings.HasPrefix(f.text(), "commtest: rank ") || strings.Contains(strings.SplitAfter(f.text(), "mine")[0], "for that") {
		t.Errorf("%s", f.text())
	}
}

// A rank that doesn't wait for the dead one, but for its context, is ended too.
func TestDeathEndsContext(t *testing.T) {
	f := new(fake)
	runFake(t, f, 2, func(_ *fake, ctx context.Context, c *comm.Comm) error {
		if c.Rank() == 1 {
			return errors.New("mine")
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if want := "commtest: rank 1 of 2: mine\ncommtest: rank 0 of 2, for that: context canceled"; f.text() != want {
		t.Errorf("%s", f.text())
	}
}

// At the limit it is said who waits for whom, and where.
func TestLimit(t *testing.T) {
	for _, device := range comm.Devices() {
		t.Run(device, func(t *testing.T) {
			f := new(fake)
			runFake(t, f, 3, func(_ *fake, ctx context.Context, c *comm.Comm) error {
				if c.Rank() == 2 {
					<-ctx.Done()
					return ctx.Err()
				}
				_, err := comm.Recv(ctx, c, make([]int32, 2), 1-c.Rank(), 7)
				return err
			}, commtest.Device(device), commtest.Limit(300*time.Millisecond))
			for _, want := range []string{
				`^commtest: not done after 300ms\. What the ranks wait for:`,
				`\n  rank 0: Recv\(peer 1, tag 7, 8 B\), for \d\S*, at \S+ends_test\.go:\d+`,
				`\n  rank 1: Recv\(peer 0, tag 7, 8 B\), for \d\S*, at \S+ends_test\.go:\d+`,
				`\n  rank 2: no message: it runs, or waits for something else`,
				`\ncommtest: rank 0 of 3, for that: .*Recv\(.*context deadline exceeded`,
			} {
				if !regexp.MustCompile(want).MatchString(f.text()) {
					t.Errorf("want %s in\n%s", want, f.text())
				}
			}
		})
	}
}

// The limit lies before go test's.
func TestDeadline(t *testing.T) {
	f := &fake{deadline: time.Now().Add(2 * time.Second)}
	runFake(t, f, 2, func(_ *fake, ctx context.Context, c *comm.Comm) error {
		if end, ok := ctx.Deadline(); !ok || !end.Before(f.deadline) {
			return errors.New("the context ends too late")
		}
		return hear(ctx, c)
	})
	if left := time.Until(f.deadline); left < 0 || !strings.HasPrefix(f.text(), "commtest: not done after 1.") {
		t.Errorf("%v before the test's deadline\n%s", left, f.text())
	}
}

func TestSkip(t *testing.T) {
	f := new(fake)
	returned := runFake(t, f, 2, func(f *fake, ctx context.Context, c *comm.Comm) error {
		if c.Rank() == 1 {
			f.SkipNow()
		}
		return hear(ctx, c)
	})
	if returned || f.failed || !f.skipped || f.text() != "" {
		t.Errorf("failed: %v, skipped: %v\n%s", f.failed, f.skipped, f.text())
	}
}

// What is asked for and can't be is said.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		n    int
		opt  commtest.Option
		want string
	}{
		{0, commtest.Limit(0), "commtest: 0 ranks"},
		{2, commtest.Limit(-1), "commtest: a limit of -1ns"},
		{2, commtest.Hosts(-1), "commtest: -1 hosts"},
		{2, commtest.Device("string"), `no device "string": this system has `},
		{2, commtest.Config(comm.Config{Recv: "both"}), `"both" is not a kind of receive queue`},
	} {
		f := new(fake)
		runFake(t, f, c.n, func(*fake, context.Context, *comm.Comm) error { return nil }, c.opt)
		if !f.failed || !strings.Contains(f.text(), c.want) {
			t.Errorf("want %s: %s", c.want, f.text())
		}
	}
}

// Everything that was sent before a rank's death arrives.
func TestLastWords(t *testing.T) {
	for _, device := range comm.Devices() {
		f := new(fake)
		heard := 0
		runFake(t, f, 2, func(_ *fake, ctx context.Context, c *comm.Comm) error {
			if c.Rank() == 1 {
				for range 20 {
					if err := comm.Send(ctx, c, make([]byte, 8), 0, 0); err != nil {
						return err
					}
				}
				return errors.New("mine")
			}
			for {
				if err := hear(ctx, c); err != nil {
					return err
				}
				heard++
			}
		}, commtest.Device(device))
		if heard != 20 {
			t.Errorf("%s: %d messages arrived, want 20\n%s", device, heard, f.text())
		}
	}
}

// A rank that heeds nothing doesn't keep the test: it is named, with all stacks.
func TestStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // to wait for it in no time
		f := new(fake)
		f.TB = t
		free := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			commtest.Run(f, 2, func(ctx context.Context, c *comm.Comm) error {
				if c.Rank() == 1 {
					<-free
					return nil
				}
				return hear(ctx, c)
			})
		}()
		<-done
		for _, want := range []string{
			`^commtest: not done after 1h0m0s`,
			`\n  rank 1: no message: it runs, or waits for something else`,
			`\ncommtest: rank 0 of 2, for that: `,
			`\ncommtest: rank 1 of 2 has not ended 10s after its context`,
			`\ncommtest: all goroutines:\ngoroutine `,
		} {
			if !regexp.MustCompile(want).MatchString(f.text()) {
				t.Errorf("want %s in\n%.2000s", want, f.text())
			}
		}
		close(free)
	})
}
