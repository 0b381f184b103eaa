package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/verbena-mpi/verbena/internal/hostlist"
	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs/tcp"
)

// Plan is what Hosts needs to know.
type Plan struct {
	Hosts []hostlist.Host // with Local where it is this one
	// Command is the words that run a helper on a host.
	Command func(h hostlist.Host) []string
	Machine *Machine // this one
}

// Limits of looking at other hosts.
const (
	startLimit = 20 * time.Second // from the command to the helper's hello
	pairLimit  = 60 * time.Second // of all connections
	startsOnce = 32               // commands that begin side by side
)

// visit is a helper on a host.
type visit struct {
	host  hostlist.Host
	err   error // there is none
	hello hello
	off   time.Duration // its clock's distance from ours, at least
	to    []result      // of its connections
	lost  error         // it has ended before the last of them

	in  io.WriteCloser
	out *reader
	end func() // it waits until the helper has gone
}

// Hosts looks at the other hosts of a job, and at the ways between all of them.
func Hosts(ctx context.Context, p Plan) []Finding {
	rounds := (len(p.Hosts) + startsOnce - 1) / startsOnce
	ctx, cancel := context.WithTimeout(ctx, time.Duration(rounds)*startLimit+pairLimit)
	defer cancel()
	key := secret.New()
	visits := make([]*visit, len(p.Hosts))
	places := make(chan struct{}, startsOnce)
	var all sync.WaitGroup
	for i, h := range p.Hosts {
		visits[i] = &visit{host: h}
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			visits[i].start(ctx, i, p, key)
		})
	}
	all.Wait()
	defer func() {
		for _, v := range visits {
			if v.end != nil {
				all.Go(v.end)
			}
		}
		all.Wait()
	}()
	pairing, done := context.WithTimeout(ctx, pairLimit)
	defer done()
	for i := range visits {
		if visits[i].err == nil {
			all.Go(func() { visits[i].connect(pairing, i, visits) })
		}
	}
	all.Wait()
	return judge(visits, p.Machine.Version)
}

// start starts a helper, and hears what the host is like.
func (v *visit) start(ctx context.Context, number int, p Plan, key secret.Secret) {
	begin := time.Now()
	if v.host.Local {
		v.startHere(ctx, p.Machine)
	} else {
		v.startThere(ctx, p.Command(v.host))
	}
	if v.err != nil {
		return
	}
	done := make(chan error, 1)
	go func() {
		err := say(v.in, "", setup{Secret: key.Text(), Host: number, Net: p.Machine.getenv("VERBENA_NET")})
		err = errors.Join(err, v.out.hear(helperWord, &v.hello))
		if err == nil {
			err = v.hello.check()
		}
		done <- err
	}()
	late := time.NewTimer(time.Until(begin.Add(startLimit)))
	defer late.Stop()
	select {
	case v.err = <-done:
	case <-late.C:
		v.err = fmt.Errorf("no helper after %v", startLimit)
	case <-ctx.Done():
		v.err = ctx.Err()
	}
	if v.err != nil {
		v.stop()
		return
	}
	// It was told at some time between these two.
	if now := time.Now(); v.hello.Time.Before(begin) {
		v.off = v.hello.Time.Sub(begin)
	} else if v.hello.Time.After(now) {
		v.off = v.hello.Time.Sub(now)
	}
}

// stop ends a helper that has failed, and makes its last words the error.
func (v *visit) stop() {
	v.end()
	v.end = nil
}

// startHere runs a helper in this process.
func (v *visit) startHere(ctx context.Context, m *Machine) {
	ctx, cancel := context.WithCancel(ctx)
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	done := make(chan struct{})
	copied := *m
	go func() {
		defer close(done)
		err := Help(ctx, &copied, theirIn, theirOut)
		_ = theirOut.CloseWithError(errors.Join(err, io.EOF))
	}()
	v.in, v.out = in, newReader(out)
	v.end = func() {
		_, _ = in.Close(), out.Close()
		cancel()
		<-done
	}
}

// startThere runs one by a command.
func (v *visit) startThere(ctx context.Context, argv []string) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	said := &lastWords{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		if out, err = cmd.StdoutPipe(); err == nil {
			v.in, v.out = in, newReader(out)
			err = cmd.Start()
		}
	}
	if err != nil {
		cancel()
		v.err = fmt.Errorf("starting %s: %w", argv[0], err)
		return
	}
	v.end = func() {
		_ = in.Close()
		grace := time.AfterFunc(time.Second, cancel) // most end by themselves
		defer grace.Stop()
		_ = cmd.Wait()
		cancel()
		if v.err != nil {
			v.err = startError(argv[0], v.err, cmd.ProcessState.ExitCode(), said.String())
		}
	}
}

// startError says why there is no helper, from all that is known. What the command has said
// counts where it has ended by itself.
func startError(name string, err error, status int, said string) error {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	switch {
	case !errors.Is(err, io.EOF):
		return &helperError{0, fmt.Sprintf("%s: %v", name, err)}
	case last != "":
		return &helperError{status, fmt.Sprintf("%s: %s", name, last)}
	case status > 0:
		return &helperError{status, fmt.Sprintf("%s ended with status %d", name, status)}
	}
	return &helperError{status, fmt.Sprintf("%s ended, and no helper has answered", name)}
}

// helperError is a helper that didn't start.
type helperError struct {
	status int // of the command, if it ended by itself
	text   string
}

func (e *helperError) Error() string { return e.text }

// lastWords keeps the end of what a command writes.
type lastWords struct {
	mu sync.Mutex
	b  []byte
}

func (l *lastWords) Write(p []byte) (int, error) {
	const most = 4096
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, p...)
	l.b = bytes.Clone(l.b[max(len(l.b)-most, 0):])
	return len(p), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.b)
}

// connect has a helper connect to all others, and hears how that went. It looks at what
// the others were when they began, and changes only its own.
func (v *visit) connect(ctx context.Context, self int, visits []*visit) {
	var targets []target
	for i, o := range visits {
		if addrs := v.dialable(o); i != self && o.err == nil && len(addrs) > 0 {
			targets = append(targets, target{i, addrs})
		}
	}
	type heard struct {
		result
		err error
	}
	results := make(chan heard, len(targets)+1)
	go func() {
		for _, t := range targets {
			if err := say(v.in, "", t); err != nil {
				return // the reading side finds out why
			}
		}
	}()
	go func() {
		for range targets {
			var h heard
			h.err = v.out.hear(helperWord, &h.result)
			results <- h
			if h.err != nil {
				return
			}
		}
	}()
	for range targets {
		select {
		case h := <-results:
			if h.err != nil {
				v.lost = h.err
				return
			}
			if h.Host >= 0 && h.Host < len(visits) {
				v.to = append(v.to, h.result)
			}
		case <-ctx.Done():
			v.lost = ctx.Err()
			return
		}
	}
}

// dialable are the addresses at which o's helper can be called from v, with its port. What
// v has itself isn't o, there.
func (v *visit) dialable(o *visit) []string {
	var list []string
	for _, n := range addresses(o.hello.Networks) {
		ip := n.Addr.Addr()
		if !slices.ContainsFunc(v.hello.Networks, func(own tcp.Network) bool { return own.Addr.Addr() == ip }) {
			list = append(list, netip.AddrPortFrom(ip, o.hello.Port).String())
		}
	}
	return list
}
