package comm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/match"
	"github.com/verbena-mpi/verbena/progress"
)

// World is this process's membership in its job: its connections, its memory,
// and the communicator of all ranks. A process may have several in tests; nothing
// is shared between them.
type World struct {
	job      *bootstrap.Job
	settings settings
	log      *logrus.Logger
	rank     int
	size     int
	all      *Comm
	types    types
	profile  *profile // or nil

	launcher  *control.Conn // nil where there is none
	attending sync.WaitGroup

	scratches sync.Pool      // of *scratch
	packing   sync.WaitGroup // messages into staging memory, without the lock

	eng *progress.Engine

	// Guarded by eng's lock.
	transports      []*transport // none in a world of one; the one for ranks of this machine first
	limit           int          // the largest eager payload
	peers           []*peer
	living          int // other ranks that are not gone
	deaths          []*peer
	table           match.Table[request, unexpected]
	pool            *request
	requests        []*request // all there are
	active          int        // requests that are not in the pool
	records         records    // of unexpected messages
	stagings        []*scratch // idle staging memory
	stagingIdle     int        // bytes of it
	unexpectedBytes int64
	probes          []*request // blocked in Probe
	buffers         buffers
	count           counters
	contexts        uint64   // that this rank has given out
	spareContexts   []uint32 // and that were not chosen
	freed           numbers  // of communicators that were freed here
	late            bool     // finishing, or something was freed
	finishing       bool     // in Close
	closed          bool
}

type counters struct{ Unexpected, Dropped, OrdinaryAllocs uint64 }

// Comm is the communicator of all ranks.
func (w *World) Comm() *Comm { return w.all }

// Close ends this rank's membership. Collective: it returns when all ranks have
// called it, or ctx ends. In the meantime other ranks' calls that wait for this one
// fail with ErrFinished. Messages of buffered sends leave first, or are reported as
// an error; so are requests that were not waited for.
func (w *World) Close(ctx context.Context) error {
	return errors.Join(w.close(ctx))
}

// close is Close. Its first error is that of waiting for the other ranks.
func (w *World) close(ctx context.Context) (together, alone error) {
	w.eng.Lock()
	w.bye()
	w.refuseBuffered(w.peers[w.rank], errOwn)
	unsent := w.flush(ctx, "Close")
	w.eng.Unlock()
	together = w.all.barrier(ctx, closeContext)
	w.eng.Lock()
	if w.closed {
		w.eng.Unlock()
		return nil, ErrClosed
	}
	if w.active > 0 {
		alone = fmt.Errorf("comm: rank %d: Close: %d requests were not waited for", w.rank, w.active)
	}
	w.eng.Unlock()
	w.shut()
	// The goodbye is said also where ctx has ended: this rank is done.
	bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), byeLimit)
	defer cancel()
	return together, errors.Join(unsent, alone, w.job.Close(bye))
}

var errOwn = errors.New("this rank has not received it")

// byeLimit is how long the launcher may take to answer the goodbye.
const byeLimit = 10 * time.Second

// shut frees what the world holds. Calls that are still blocked end with
// ErrClosed; peers see an orderly end.
func (w *World) shut() {
	w.eng.Lock()
	if w.closed {
		w.eng.Unlock()
		return
	}
	w.closed = true
	w.eng.Unlock()
	w.profile.stop()
	w.leave()
	w.packing.Wait() // none begins any more
	w.eng.Close()    // until then messages still arrive
	w.eng.Lock()
	defer w.eng.Unlock()
	for r := range w.table.Posted(nil) {
		w.table.Remove(&r.recv)
		r.complete(ErrClosed)
	}
	for u := range w.table.Unexpected(nil) {
		if s := u.waiting(); s != nil {
			s.complete(ErrClosed)
		}
	}
	for _, p := range w.peers {
		if p.ep != nil {
			p.via.rndv.Lost(&p.sends, ErrClosed)
		}
	}
	if w.settings.Counters {
		w.log.Printf("comm: rank %d: %s", w.rank, counted(w.counters()))
	}
	w.closeDevices()
}

// Abort ends the whole job, with a line that says why; it does not return. The
// exit status is 1, or what an ExitCode method of err says. Where ranks are
// goroutines (commtest) it ends this one.
func (w *World) Abort(err error) {
	w.profile.stop()
	w.job.Abort(exitCode(err), err.Error())
	if w.job.Local() != nil {
		runtime.Goexit() // the process has other ranks
	}
	os.Exit(exitCode(err))
}

// exitCode is the status with which a program ends for err.
func exitCode(err error) int {
	var c interface{ ExitCode() int }
	if errors.As(err, &c) {
		return c.ExitCode()
	}
	return 1
}
