package meet

import (
	"bufio"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"time"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/pmi"
)

// seat is a rank's in a meeting. host.mu guards it.
type seat struct {
	conn    net.Conn // the first connection, or nil
	control *control.Conn
	token   string        // that the second connection brings
	free    chan struct{} // closed when the rank leaves before the meeting begins
	from    string        // where the rank came from
	left    string        // where a rank came from that left before the meeting began
	listens bool          // to news
	told    int           // of host.exits
	end     string        // how the rank has ended, or ""
}

func (s *seat) shut() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
	if s.control != nil {
		_ = s.control.Close()
	}
}

// receive sees to a connection, from its making to its end.
func (h *host) receive(c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(strangerLimit))
	s, err := h.c.Way.Secure(c, true)
	if err != nil {
		h.strangers.leave(c, err)
		return
	}
	m, err := hear(bufio.NewReaderSize(s, maxLine))
	h.strangers.leave(c, err)
	if err != nil {
		return
	}
	_ = c.SetDeadline(time.Time{})
	switch m.Cmd {
	case "meet":
		h.first(s, m)
	case "meet_control":
		h.second(s, m)
	default:
		_ = say(s, answerLimit, result(&RefusedError{Why: fmt.Sprintf("expected meet, got %s", pmi.Quote(m.Cmd))}))
	}
}

// first gives a rank its seat, and serves it until it leaves.
func (h *host) first(c net.Conn, m pmi.Message) {
	hello, err := readHello(m)
	refused := &RefusedError{}
	if err != nil {
		refused.Why = err.Error()
	} else {
		refused = h.take(hello, c)
	}
	if refused != nil {
		if !refused.again {
			h.mu.Lock()
			h.refusal = fmt.Sprintf("%s: %s", c.RemoteAddr(), refused.Why)
			h.mu.Unlock()
		}
		_ = say(c, answerLimit, result(refused))
		return
	}
	h.serve(hello.rank, c)
}

// takenGrace is how long a rank waits for the seat that another connection of the
// same rank has: that of a process that has just ended, perhaps.
const takenGrace = 2 * time.Second

// take is why not, or nil.
func (h *host) take(g hello, c net.Conn) *RefusedError {
	limit := time.NewTimer(takenGrace)
	defer limit.Stop()
	for {
		refused, free := h.seat(g, c)
		if free == nil {
			return refused
		}
		select {
		case <-free:
		case <-h.quit:
			return refused
		case <-limit.C:
			return refused
		}
	}
}

// seat is one attempt to take a seat. Free: who waits until it is closed may try again.
func (h *host) seat(g hello, c net.Conn) (refused *RefusedError, free <-chan struct{}) {
	no := func(format string, args ...any) *RefusedError {
		return &RefusedError{Why: fmt.Sprintf(format, args...)}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case g.job != h.c.Job:
		return no("it belongs to job %q, rank 0 to job %q", g.job, h.c.Job), nil
	case g.size != h.c.Size:
		return no("rank %d was told that the job has %s, rank 0 that it has %d", g.rank, ranks(g.size), h.c.Size), nil
	case g.rank < 1 || g.rank >= h.c.Size:
		return no("rank %d came, expected a rank from 1 to %d (rank 0 keeps the meeting)", g.rank, h.c.Size-1), nil
	}
	s := &h.seats[g.rank]
	_, finalized := h.server.Joined(g.rank) // perhaps a moment before that is noted here
	switch {
	case h.phase == over || finalized:
		r := no("the job that meets here is about to end")
		r.again = true
		return r, nil
	case h.phase == running:
		return no("rank %d has been in this job already, from %s, and a process that is started again can't take its place: start all ranks again", g.rank, s.from), nil
	case s.conn != nil:
		return no("rank %d is here already, from %s: two processes are the same rank", g.rank, s.from), s.free
	}
	*s = seat{conn: c, token: rand.Text(), from: c.RemoteAddr().String(), free: make(chan struct{})}
	if err := say(c, tellLimit, pmi.Msg("meet_wait", "token", s.token)); err != nil {
		_ = c.Close() // which serve notes
	}
	if until := time.Now().Add(g.within); until.Before(h.until) {
		h.until = until
		h.timer.Reset(g.within)
	}
	return nil, nil
}

func ranks(n int) string {
	if n == 1 {
		return "1 rank"
	}
	return fmt.Sprintf("%d ranks", n)
}

// second is a rank's control connection.
func (h *host) second(c net.Conn, m pmi.Message) {
	rank, err := m.Int("rank")
	token, _ := m.Get("token")
	h.mu.Lock()
	if err != nil || rank < 1 || rank >= h.c.Size || h.phase != gathering || h.seats[rank].conn == nil || h.seats[rank].control != nil ||
		subtle.ConstantTimeCompare([]byte(token), []byte(h.seats[rank].token)) != 1 {
		h.mu.Unlock()
		_ = say(c, answerLimit, result(&RefusedError{Why: "a control connection of no rank that is here", again: true}))
		return
	}
	conn := control.NewConn(c)
	h.seats[rank].control = conn
	if err := say(c, tellLimit, result(nil)); err != nil {
		_ = h.seats[rank].conn.Close() // it will come again
	}
	h.begin()
	h.mu.Unlock()
	h.attend(rank, conn)
}

// serve is PMI's part: it lasts until the rank leaves, or ends.
func (h *host) serve(rank int, c net.Conn) {
	err := h.server.Serve(rank, c)
	h.mu.Lock()
	s := &h.seats[rank]
	if h.phase == gathering {
		left := s.from
		s.shut()
		close(s.free)
		*s = seat{left: left}
		h.mu.Unlock()
		return
	}
	h.mu.Unlock()
	_, finalized := h.server.Joined(rank)
	h.hasEnded(rank, finalized && err == nil)
}
