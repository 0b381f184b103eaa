package meet

import (
	"fmt"
	"sync"
	"time"

	"github.com/verbena-mpi/verbena/internal/control"
)

// attend reads a rank's control connection: from its hello on the rank listens. What
// else a rank says is for a launcher.
func (h *host) attend(rank int, c *control.Conn) {
	defer func() { _ = c.Close() }()
	for {
		m, err := c.Receive()
		if err == nil && m.Kind != control.Hello {
			continue
		}
		h.mu.Lock()
		if s := &h.seats[rank]; s.control == c { // and not that of one who came again
			s.listens = err == nil
		}
		h.mu.Unlock()
		if err != nil {
			return
		}
		h.tell(rank)
	}
}

// tell tells a rank the exits that it has not been told, and an abort.
func (h *host) tell(rank int) {
	h.mu.Lock()
	s := &h.seats[rank]
	if !s.listens || s.end != "" {
		h.mu.Unlock()
		return
	}
	var news []control.Message
	if h.abort != nil {
		news = append(news, *h.abort)
	}
	for _, m := range h.exits[s.told:] {
		if m.Rank != rank {
			news = append(news, m)
		}
	}
	s.told = len(h.exits)
	c := s.control
	h.mu.Unlock()
	if len(news) > 0 {
		_ = c.Send(tellLimit, news...)
	}
}

// tellOthers tells all ranks but this one and rank 0.
func (h *host) tellOthers(but int) {
	var told sync.WaitGroup
	for r := 1; r < h.c.Size; r++ {
		if r != but {
			told.Go(func() { h.tell(r) })
		}
	}
	told.Wait()
}

// hasEnded notes a rank's end once the meeting has begun.
func (h *host) hasEnded(rank int, finished bool) {
	how := control.Died
	if finished {
		how = control.Finished
	}
	h.mu.Lock()
	if h.phase != running || h.seats[rank].end != "" {
		h.mu.Unlock()
		return
	}
	h.seats[rank].end = how
	h.exits = append(h.exits, control.Message{Kind: control.Exit, Rank: rank, How: how})
	if rank != 0 {
		if h.rest--; h.rest == 0 {
			close(h.ended)
		}
	}
	h.mu.Unlock()
	h.server.Exited(rank) // those that wait for it in a barrier hear of it: Stuck
	h.tellSoon()
}

// tellSoon tells all ranks the exits. Many ranks end together, and so each is told
// once.
func (h *host) tellSoon() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.newsDue {
		return
	}
	h.newsDue = true
	h.work.Go(func() {
		wait := time.NewTimer(newsDelay)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-h.quit:
			return
		}
		h.mu.Lock()
		h.newsDue = false
		h.mu.Unlock()
		h.tellOthers(0)
		h.tell(0)
	})
}

// newsDelay is how long exits are gathered.
const newsDelay = 10 * time.Millisecond

// Stuck implements pmi.Events: a rank waits for one that has ended.
func (h *host) Stuck(_, missing int) {
	h.mu.Lock()
	who := fmt.Sprintf("rank %d", missing)
	if missing != 0 {
		who += " (" + h.seats[missing].from + ")"
	}
	h.mu.Unlock()
	what := "has ended"
	if _, finalized := h.server.Joined(missing); finalized {
		what = "has left the job"
	}
	h.server.Break(who + " " + what)
}

// Abort implements pmi.Events. It doesn't wait, for the rank's end must be noted.
func (h *host) Abort(rank, status int, why string) {
	if h.noteAbort(rank, status, why) {
		h.work.Go(func() { h.tellAbort(rank) })
	}
}

// noteAbort says whether this is the job's first abort, which counts.
func (h *host) noteAbort(rank, status int, why string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != running || h.abort != nil {
		return false
	}
	if status &= 0xff; status == 0 {
		status = 1 // as under verbrun
	}
	h.abort = &control.Message{Kind: control.Abort, Rank: rank, Status: status, Why: why}
	h.server.Break(fmt.Sprintf("rank %d aborted the job with status %d: %s", rank, status, why))
	return true
}

// tellAbort tells all ranks of an abort. Rank 0's process, and this meeting with it,
// ends when rank 0 knows; so the others are given time to hear of it and to end.
func (h *host) tellAbort(rank int) {
	h.tellOthers(rank)
	h.linger()
	if rank != 0 {
		h.tell(0)
	}
}

// linger waits until the other ranks have ended, or have had the time to.
func (h *host) linger() {
	limit := time.NewTimer(lingerLimit)
	defer limit.Stop()
	select {
	case <-h.ended:
	case <-h.quit:
	case <-limit.C:
	}
}

const lingerLimit = time.Second
