package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs"
)

// dial connects queue pair local to the peer's queue pair remote. It tries one
// address after the other, each for its share of the time, and takes the first at
// which the peer proves to be the one that is meant. A rail other than 0 has one pair
// of addresses, and no other is tried. The error is a refusal where the peer itself
// says no, and else lists what was tried.
func (t *contacts) dial(ctx context.Context, peer []byte, local, remote uint32, rail int) (link, error) {
	a, err := parseAddr(peer)
	if err != nil {
		return link{}, err
	}
	if err := t.enter(); err != nil {
		return link{}, err
	}
	defer t.work.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	d := &dialing{contacts: t, whole: ctx, peer: &a, want: want{from: a.id, local: local, remote: remote, rail: rail}}
	search, stop := context.WithTimeout(ctx, t.cfg.Timeout)
	defer stop()
	l, err := d.run(search, t.ways(&a, rail))
	if err != nil && t.ctx.Err() != nil {
		return link{}, verbs.ErrClosed
	}
	return l, err
}

// ways are the routes that serve a rail.
func (t *contacts) ways(a *deviceAddr, rail int) []route {
	if rail == 0 {
		return t.choice.routes(t.own, t.host, a)
	}
	if r := t.choice.rails(t.own, t.host, a); rail > 0 && rail < min(len(r), maxRails) {
		return r[rail : rail+1]
	}
	return nil
}

// dialing is one search for a way to a peer.
type dialing struct {
	*contacts
	whole  context.Context // of the call; the search for an address has less time
	peer   *deviceAddr
	want   want // labels as seen from here
	failed []failure
}

// failure is why an address didn't serve.
type failure struct {
	route
	err   error         // nil: nobody answered
	after time.Duration // of all tries together
}

func (f *failure) String() string {
	where := f.to.String()
	if f.from.IsValid() {
		where += " from " + f.from.String()
	}
	if f.err == nil {
		return fmt.Sprintf("%s: no answer in %v", where, f.after.Round(time.Millisecond))
	}
	return fmt.Sprintf("%s: %v", where, f.err)
}

// run tries all routes, first each for a short time, in which a lost packet isn't
// sent again; then, as long as there is time, those that gave no answer or were busy.
func (d *dialing) run(ctx context.Context, routes []route) (link, error) {
	if len(routes) == 0 {
		return link{}, fmt.Errorf("tcp: no way to the peer: its addresses are %s; this process uses %s", places(d.peer.at), locals(d.choice.at))
	}
	pause := 10 * time.Millisecond
	for round := 0; len(routes) > 0 && ctx.Err() == nil; round++ {
		var left []route
		busy := false
		for i, r := range routes {
			limit := until(ctx) / time.Duration(len(routes)-i)
			if round == 0 {
				limit = max(limit/2, min(limit, 50*time.Millisecond))
			}
			start := time.Now()
			l, err := d.try(ctx, r, limit)
			var no refusal
			if err == nil || errors.As(err, &no) && no.answer != answerBusy {
				return l, err
			}
			d.note(failure{r, plain(err), time.Since(start)})
			if again(err) {
				left = append(left, r)
				busy = busy || !timedOut(err)
			}
			if ctx.Err() != nil {
				break
			}
		}
		routes = left
		if busy && !d.sleep(pause/2+rand.N(pause), ctx.Done()) {
			break
		}
		pause = min(2*pause, time.Second)
	}
	return link{}, d.error()
}

// note keeps the last failure of each address.
func (d *dialing) note(f failure) {
	for i := range d.failed {
		if d.failed[i].route == f.route {
			f.after += d.failed[i].after
			d.failed[i] = f
			return
		}
	}
	d.failed = append(d.failed, f)
}

func (d *dialing) error() error {
	var b strings.Builder
	for i := range d.failed {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(d.failed[i].String())
	}
	return fmt.Errorf("tcp: no connection to the peer: %s", b.String())
}

// try dials one address. The limit is for the first word of whoever is there.
func (d *dialing) try(ctx context.Context, r route, limit time.Duration) (link, error) {
	start := time.Now()
	dialer := net.Dialer{KeepAlive: -1, Control: d.cfg.beforeConnect, Deadline: start.Add(limit)}
	if r.from.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: r.from.AsSlice(), Zone: r.from.Zone()}
	}
	c, err := dialer.DialContext(ctx, "tcp", r.to.String())
	if err != nil {
		return link{}, err
	}
	defer c.Close() // the descriptor of a link is another one
	hurry := func() { _ = c.SetDeadline(time.Unix(1, 0)) }
	stop := context.AfterFunc(ctx, hurry)
	defer stop()
	m := d.cfg.meet(d.id, c)
	_ = c.SetDeadline(start.Add(limit))
	theirs, err := m.introduce()
	if err != nil {
		return link{}, err
	}
	// It is a device of this kind. It may be slow, on a machine that does much else.
	_ = c.SetDeadline(time.Now().Add(max(limit, until(ctx)/2)))
	if ctx.Err() != nil {
		return link{}, ctx.Err()
	}
	if err := m.propose(theirs, d.peer.id); err != nil {
		return link{}, err
	}
	// It is the peer. The queue pair that is meant may still have to be made there; so
	// there is more time for the answer, and no other address is tried.
	if !stop() {
		return link{}, ctx.Err()
	}
	_ = c.SetDeadline(time.Now().Add(d.cfg.Timeout))
	stop = context.AfterFunc(d.whole, hurry)
	defer stop()
	fd, err := copyFD(c)
	if err != nil {
		return link{}, err
	}
	answer, err := m.ask(want{local: d.want.remote, remote: d.want.local, rail: d.want.rail})
	switch {
	case err == nil && answer != answerOK:
		err = refusal{answer}
	case err == nil && !stop():
		err = d.whole.Err()
	}
	if err != nil {
		_ = unix.Close(fd)
		return link{}, err
	}
	return d.link(m, d.want, true, fd), nil
}

// until is how much time a context with a deadline has left.
func until(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline()
	return time.Until(deadline)
}

// again says whether another try may have another result. What closes the connection
// in the middle of a handshake had no place for it, most likely; a host that isn't
// found may have lost a question.
func again(err error) bool {
	var no refusal
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, unix.ECONNRESET, unix.EPIPE, unix.EHOSTUNREACH, unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return errors.As(err, &no) || timedOut(err)
}

func timedOut(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// plain is an error without what the list of failures says anyway; nil if it is that
// nobody answered.
func plain(err error) error {
	switch {
	case errors.Is(err, secret.ErrDiffers):
		return errors.New("what answers there is not the peer: a device of another job, or of another rank")
	case timedOut(err):
		return nil
	}
	return bare(err)
}

// bare takes off an error what says between which addresses it was.
func bare(err error) error {
	if op, ok := err.(*net.OpError); ok {
		return op.Err
	}
	return err
}

func places(at []place) string {
	return list(at, func(p place) string { return p.prefix.String() })
}

func locals(at []local) string {
	return list(at, func(l local) string { return l.name + " " + l.prefix.String() })
}

func list[T any](all []T, text func(T) string) string {
	if len(all) == 0 {
		return "none"
	}
	s := make([]string, len(all))
	for i := range all {
		s[i] = text(all[i])
	}
	return strings.Join(s, ", ")
}

// statusOf is what the owner of a queue pair hears of a dial that failed.
func statusOf(err error) verbs.Status {
	var no refusal
	if errors.As(err, &no) && no.answer == answerClosing {
		return verbs.StatusPeerClosed
	}
	return verbs.StatusRefused
}
