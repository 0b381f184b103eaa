package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/verbena-mpi/verbena/internal/ranges"
	"github.com/verbena-mpi/verbena/internal/secret"
)

// Help is a helper: it says what this machine is like, takes connections of other helpers
// and makes some to them, until its input ends.
func Help(ctx context.Context, m *Machine, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := newReader(in)
	var first setup
	if err := r.hear("", &first); err != nil {
		return fmt.Errorf("what to do: %w", err)
	}
	key, err := first.key()
	if err != nil {
		return err
	}
	m.Env = append(m.Env, "VERBENA_NET="+first.Net)
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer func() { _ = l.Close() }()
	all.Go(func() { accept(ctx, l, key, first.Host) })
	h := hello{Version: m.Version, Path: self(), Machine: m.identity(), Time: time.Now(), Findings: Look(ctx, m)}
	h.Port = uint16(l.Addr().(*net.TCPAddr).Port)
	if list, known := m.field("proc/self/status", "Cpus_allowed_list"); known {
		h.Cores = len(ranges.Parse(list))
	}
	h.Networks, _ = m.Networks(first.Net) // without any, nobody can connect: Findings say why
	h.Time = time.Now()
	if err := say(out, helperWord, h); err != nil {
		return err
	}
	return connect(ctx, r, out, key)
}

// identity is the same for processes that see one network of one machine.
func (m *Machine) identity() string {
	boot, err := m.read("proc/sys/kernel/random/boot_id")
	ns, err2 := os.Readlink(filepath.Join(m.Root, "proc/self/ns/net"))
	if err != nil || err2 != nil {
		return ""
	}
	return boot + " " + ns
}

func self() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	return exe
}

// Limits of connections. A stranger may hold some open, but not for long, and others
// wait no longer than that.
const (
	dialLimit   = 3 * time.Second
	acceptLimit = 5 * time.Second
	atOnce      = 64
)

// accept proves the secret to whoever connects, and closes.
func accept(ctx context.Context, l net.Listener, key secret.Secret, host int) {
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, 4*atOnce)
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many descriptors: those that there are end soon
			select {
			case <-ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
			continue
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			_ = prove(ctx, c, key, host, false)
		})
	}
}

// prove closes the connection in the end. Both ends must agree on which host's helper has
// been called: many hosts have the same address on some interface.
func prove(ctx context.Context, c net.Conn, key secret.Secret, called int, initiator bool) error {
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	limit := acceptLimit
	if initiator {
		limit = dialLimit
	}
	if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	return key.Prove(c, initiator, fmt.Appendf(nil, "verbena doctor 1, host %d", called))
}

// connect does what the targets say.
func connect(ctx context.Context, r *reader, out io.Writer, key secret.Secret) error {
	var mu sync.Mutex // of out
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, atOnce)
	for {
		var t target
		switch err := r.hear("", &t); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(t.Addrs) > maxNames:
			return fmt.Errorf("%d addresses of a host: expected at most %d", len(t.Addrs), maxNames)
		case len(t.Addrs) == 0:
			continue
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			res := result{Host: t.Host, Tries: tryAll(ctx, t, key)}
			mu.Lock()
			defer mu.Unlock()
			_ = say(out, helperWord, res) // if nobody listens any more, our input has ended, too
		})
	}
}

// tryAll connects to each address of a host, side by side.
func tryAll(ctx context.Context, t target, key secret.Secret) []try {
	tries := make([]try, len(t.Addrs))
	var all sync.WaitGroup
	for i, addr := range t.Addrs {
		all.Go(func() {
			tries[i] = tryOne(ctx, addr, t.Host, key)
		})
	}
	all.Wait()
	return tries
}

func tryOne(ctx context.Context, addr string, host int, key secret.Secret) try {
	t := try{Addr: addr}
	start := time.Now()
	d := net.Dialer{Timeout: dialLimit}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err == nil {
		t.Took = time.Since(start)
		err = prove(ctx, c, key, host, true)
	}
	switch {
	case errors.Is(err, secret.ErrDiffers):
		t.Err = "somebody else answers there"
	case err != nil:
		t.Err = reason(err)
	}
	return t
}

// reason is the last part of a network error: the address is named anyway.
func reason(err error) string {
	if e, is := errors.AsType[net.Error](err); is && e.Timeout() {
		return "no answer"
	}
	s := err.Error()
	if i := strings.LastIndex(s, ": "); i >= 0 {
		s = s[i+2:]
	}
	return s
}
