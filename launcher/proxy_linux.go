package launcher

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/hashicorp/yamux"
	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"
)

// proxy passes on, in an agent, what one of its ranks and the supervisor say to
// each other.
type proxy struct {
	input bool
	log   *logrus.Logger
	rank  *rank

	out, err, in, pmi, control *yamux.Stream

	outputs [2]*pump
	feeder  *feeder // or nil
}

// meet takes the streams that the supervisor has opened for the rank.
func (p *proxy) meet(id int, stream func(streamKind, int) (*yamux.Stream, error)) error {
	want := []struct {
		kind streamKind
		to   **yamux.Stream
	}{{streamOut, &p.out}, {streamErr, &p.err}, {streamPMI, &p.pmi}, {streamControl, &p.control}, {streamIn, &p.in}}
	if !p.input {
		want = want[:4]
	}
	for _, w := range want {
		var err error
		if *w.to, err = stream(w.kind, id); err != nil {
			return err
		}
	}
	return nil
}

// stdin makes the pipe for the rank's input, if it has any. Keep says that what it
// leaves is to be known.
func (p *proxy) stdin(keep bool) (*os.File, error) {
	if !p.input {
		return nil, nil
	}
	theirs, ours, err := stdinPipe()
	if err != nil {
		return nil, err
	}
	p.feeder = &feeder{from: p.in, to: ours, done: make(chan struct{})}
	if keep {
		p.feeder.rest, err = fileCopy(theirs)
	}
	return theirs, err
}

// serve begins, when the rank has started.
func (p *proxy) serve(r *rank) {
	p.rank = r
	p.outputs = [2]*pump{{from: r.out.f, to: p.out}, {from: r.err.f, to: p.err}}
	for _, o := range p.outputs {
		go o.run()
	}
	if p.feeder != nil {
		go p.feeder.run()
	}
	join(r.pmi, p.pmi)
	if r.link.conn == nil {
		_ = p.control.Close()
		return
	}
	join(r.link.ours, p.control)
}

// join passes on in both directions until each has ended. When one of the two is
// closed so is the other.
func join(local io.ReadWriteCloser, remote *yamux.Stream) {
	go func() {
		_, _ = io.Copy(remote, local)
		_ = remote.Close()
	}()
	go func() {
		_, _ = io.Copy(local, remote)
		_ = local.Close()
	}()
}

// ended adds to the rank's exit what is known here. The rank's last words are in
// its sockets, whose end closes them, unless it has lent one to somebody.
func (p *proxy) ended(e *exit) {
	if p.rank == nil {
		return // not all could be started
	}
	if e.Status != 0 {
		e.Crash = p.rank.link.lastWords()
	}
	_ = p.rank.pmi.SetDeadline(time.Now().Add(pmiGrace))
	if p.feeder != nil {
		e.Taken = p.feeder.stop()
	}
}

// cut ends the outputs, once they have passed on what there is.
func (p *proxy) cut() {
	for _, o := range p.outputs {
		if o != nil {
			o.cut()
		}
	}
}

// pump passes on what a rank writes, as it is, until the last writer has closed
// the pipe or cut is called.
type pump struct {
	from source
	to   io.WriteCloser
}

func (p *pump) run() {
	defer func() { _ = p.to.Close() }()
	defer func() { _ = p.from.Close() }()
	buf := make([]byte, pumpSize)
	var werr error
	put := func(n int) {
		if werr == nil && n > 0 {
			_, werr = p.to.Write(buf[:n])
		}
	}
	for {
		n, err := p.from.Read(buf)
		put(n)
		switch {
		case werr != nil:
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			p.from.drain(func() []byte { return buf }, put)
			return
		case err != nil:
			return
		}
	}
}

const pumpSize = 32 << 10

func (p *pump) cut() { _ = p.from.SetReadDeadline(time.Unix(1, 0)) }

// feeder passes on what a rank is to read.
type feeder struct {
	from *yamux.Stream
	to   *os.File
	rest *os.File // the read end, to see what is left in the pipe; or nil
	done chan struct{}

	written int64 // of run, until done
}

func (f *feeder) run() {
	defer close(f.done)
	defer func() { _ = f.from.Close() }() // tells the supervisor that nobody reads any more
	buf := make([]byte, pumpSize)
	for {
		n, err := f.from.Read(buf)
		w, werr := f.to.Write(buf[:n])
		f.written += int64(max(w, 0))
		if err != nil && werr == nil {
			_ = f.to.Close()
		}
		if err != nil || werr != nil {
			return
		}
	}
}

// stop ends it, when the rank has, and says how many bytes that has taken.
func (f *feeder) stop() int64 {
	_ = f.from.SetReadDeadline(time.Unix(1, 0))
	_ = f.to.SetWriteDeadline(time.Unix(1, 0))
	<-f.done
	_ = f.to.Close()
	if f.rest == nil {
		return f.written
	}
	left := 0
	if raw, err := f.rest.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { left, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	_ = f.rest.Close()
	return f.written - int64(left)
}
