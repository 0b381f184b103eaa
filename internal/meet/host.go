package meet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/pmi"
)

// phase is how far a meeting is.
type phase uint8

const (
	gathering phase = iota // ranks come and go
	running                // all have come
	over                   // it failed, or rank 0 is leaving
)

// host is rank 0's part.
type host struct {
	c         Config
	l         net.Listener
	server    *pmi.Server
	strangers *strangers
	work      sync.WaitGroup // its goroutines
	begun     chan error     // of the gathering's end; has room for one
	ended     chan struct{}  // closed when all other ranks have ended
	quit      chan struct{}  // closed by shut

	mu      sync.Mutex
	phase   phase
	seats   []seat
	until   time.Time // that of the rank which waits least
	timer   *time.Timer
	rest    int // other ranks that have not ended
	refusal string
	exits   []control.Message
	newsDue bool // somebody is about to tell them
	abort   *control.Message
}

// keep makes the meeting, and waits until it begins.
func keep(ctx context.Context, c Config) (*Place, error) {
	l, err := c.Way.Listen()
	if err != nil {
		return nil, err
	}
	h := &host{
		c: c, l: l, seats: make([]seat, c.Size), rest: c.Size - 1,
		begun: make(chan error, 1), ended: make(chan struct{}), quit: make(chan struct{}),
		strangers: newStrangers(c.Size),
	}
	h.server = pmi.NewServer(NamePrefix+rand.Text(), c.Size, h)
	h.server.SetHosts(nil)
	p := h.own()
	until, _ := ctx.Deadline()
	h.mu.Lock()
	h.until = until
	h.timer = time.AfterFunc(time.Until(until), h.tooLate)
	h.mu.Unlock()
	h.work.Go(h.accept)
	h.mu.Lock()
	h.begin() // a job of one
	h.mu.Unlock()
	select {
	case err = <-h.begun:
	case <-ctx.Done():
		if !outOfTime(ctx) {
			h.fail("rank 0 has given up: " + context.Cause(ctx).Error())
		}
		err = <-h.begun // the timer's, if the time is over: it names the missing
	}
	if err != nil {
		_, _ = p.PMI.Close(), p.Control.Close()
		h.shut()
		return nil, err
	}
	return p, nil
}

// own gives rank 0 its own seat, over pipes.
func (h *host) own() *Place {
	ours, theirs := net.Pipe()
	oursC, theirsC := net.Pipe()
	h.seats[0] = seat{conn: theirs, control: control.NewConn(theirsC), free: make(chan struct{})}
	h.work.Go(func() { h.serve(0, theirs) })
	h.work.Go(func() { h.attend(0, h.seats[0].control) })
	return &Place{PMI: ours, Control: control.NewConn(oursC), host: h}
}

// accept takes connections until the meeting is over.
func (h *host) accept() {
	for {
		c, err := h.l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, perhaps: they will be fewer
			time.Sleep(acceptPause)
			continue
		}
		h.strangers.admit(c)
		h.work.Go(func() { h.receive(c) })
	}
}

// acceptPause is after an error that may pass.
const acceptPause = 50 * time.Millisecond

// begin begins the meeting if all are there. h.mu is held.
func (h *host) begin() {
	if h.phase != gathering || len(h.missing()) > 0 {
		return
	}
	h.phase = running
	h.timer.Stop()
	for r := 1; r < h.c.Size; r++ {
		// Nobody else writes to it, since the rank asks for nothing before. One line
		// fits any socket's buffer; who doesn't get it has ended.
		_ = say(h.seats[r].conn, tellLimit, result(nil))
	}
	if h.rest == 0 {
		close(h.ended)
	}
	h.begun <- nil
}

// missing are the ranks that are not there. h.mu is held.
func (h *host) missing() (list []int) {
	for r := range h.seats {
		if h.seats[r].conn == nil || h.seats[r].control == nil {
			list = append(list, r)
		}
	}
	return list
}

// tooLate ends a gathering for which somebody has waited too long.
func (h *host) tooLate() {
	h.mu.Lock()
	if wait := time.Until(h.until); wait > 0 { // it was set for another time
		h.timer.Reset(wait)
		h.mu.Unlock()
		return
	}
	why := h.whyMissing()
	h.mu.Unlock()
	h.fail(why)
}

// whyMissing says who is missing, and what was seen. h.mu is held.
func (h *host) whyMissing() string {
	list := h.missing()
	if len(list) == 0 {
		return ""
	}
	why := fmt.Sprintf("%s not come in time (%d of %d ranks are there)",
		pmi.Ranks(list, "has", "have"), h.c.Size-len(list), h.c.Size)
	for _, r := range list {
		if from := h.seats[r].left; from != "" {
			why += fmt.Sprintf("; rank %d was there, from %s, and has left", r, from)
			break // one example
		}
	}
	if h.refusal != "" {
		why += "; refused: " + h.refusal
	}
	return why + h.strangers.report()
}

// fail ends the gathering: all that are there hear why.
func (h *host) fail(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != gathering {
		return
	}
	h.phase = over
	h.timer.Stop()
	for r := 1; r < h.c.Size; r++ {
		if c := h.seats[r].conn; c != nil {
			_ = say(c, tellLimit, result(&RefusedError{Why: why}))
		}
	}
	err := error(&RefusedError{Why: why})
	ctx, cancel := context.WithTimeout(context.Background(), doubtLimit)
	defer cancel()
	if doubt := h.c.Way.Doubt(ctx); doubt != "" {
		err = fmt.Errorf("%w; %s", err, doubt)
	}
	h.begun <- err
}

// doubtLimit bounds the look-up of a name.
const doubtLimit = 2 * time.Second

// close waits until the other ranks have ended.
func (h *host) close(ctx context.Context) (err error) {
	select {
	case <-h.ended:
	case <-ctx.Done():
		h.mu.Lock()
		var list []int
		for r := 1; r < h.c.Size; r++ {
			if h.seats[r].end == "" {
				list = append(list, r)
			}
		}
		h.mu.Unlock()
		if len(list) > 0 {
			err = fmt.Errorf("rank 0: %s not finalized: %w", pmi.Ranks(list, "has", "have"), context.Cause(ctx))
		}
	}
	h.shut()
	return err
}

// shut ends all connections and goroutines. It is called once.
func (h *host) shut() {
	close(h.quit)
	h.mu.Lock()
	h.phase = over
	h.timer.Stop()
	_ = h.l.Close()
	for r := range h.seats {
		h.seats[r].shut()
	}
	h.mu.Unlock()
	h.strangers.shut()
	h.work.Wait()
}
