package comm

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/verbena-mpi/verbena/internal/control"
)

// sayLimit is how long the launcher may take to read what a rank says.
const sayLimit = time.Second

// attend listens to the launcher: to which ranks have ended, and to the question
// where this one is blocked. Without a connection ends are heard of from the devices
// only.
func (w *World) attend(c *control.Conn) {
	if c == nil {
		return
	}
	w.launcher = c
	if err := w.eng.WatchQuiet(w.quiet); err != nil {
		w.log.WithError(err).Debug("comm: deadlocks won't be found")
	}
	w.attending.Go(w.listen)
}

// leave stops listening.
func (w *World) leave() {
	if w.launcher != nil {
		_ = w.launcher.Close()
		w.attending.Wait()
	}
}

func (w *World) listen() {
	if w.launcher.Send(sayLimit, control.Message{Kind: control.Hello, Version: control.Version}) != nil {
		return
	}
	for {
		m, err := w.launcher.Receive()
		if err != nil {
			return // closed, by this rank or with the launcher
		}
		switch m.Kind {
		case control.Exit:
			w.ended(m.Rank, m.How)
		case control.Abort:
			w.aborted(m)
		case control.Ask:
			if w.launcher.Send(sayLimit, w.answer(m.ID)...) != nil {
				return
			}
		}
	}
}

// aborted ends this process as a launcher would: there is none, and another rank has
// aborted the job.
func (w *World) aborted(m control.Message) {
	w.profile.stop()
	fmt.Fprintf(os.Stderr, "rank %d ends: rank %d has aborted the job with status %d: %s\n", w.rank, m.Rank, m.Status, m.Why)
	os.Exit(m.Status)
}

// ended is the launcher's word that a rank has ended. Where there is a connection
// to it the device tells its end, after all that it had sent; and where there is
// none the device finds that out now. The word says how the rank ended where the
// device can't.
func (w *World) ended(rank int, how string) {
	w.eng.Lock()
	defer w.eng.Unlock()
	if w.closed || rank < 0 || rank >= len(w.peers) || w.peers[rank].ep == nil {
		return
	}
	p := w.peers[rank]
	p.end = ErrDied
	if how == control.Finished {
		p.end = ErrFinished
	}
	if p.lost != nil {
		if errors.Is(p.lost.Cause, ErrUnreachable) || p.lost.Cause == ErrSilent { // it was gone before the word came
			p.lost = &PeerError{Rank: p.rank, Host: p.host, Cause: p.end}
		}
		return
	}
	if !p.contacted {
		p.contacted = true
		p.ep.Contact()
	}
}
