//go:build linux

package shm

import (
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// advance moves the reads that this side copies and the peers' reads that it
// serves, each by one piece.
func (d *Device) advance() {
	for i, r := range d.inFlight {
		if r.way != Stream {
			r.move(i)
		}
	}
	d.serveAll()
}

// move copies one piece of a direct or single-copy read.
func (r *read) move(i int) {
	q := r.qp
	at, n := r.remote.Addr+uint64(r.off), min(len(r.dst)-r.off, pieceSize)
	e, status, busy := q.hold(r.remote.Key, at, uint64(n))
	if busy {
		return
	}
	if status != verbs.StatusOK {
		r.finish(i, status)
		return
	}
	got, err := r.copyPiece(e, at, n)
	e.release()
	r.off += got
	if err != nil {
		r.denied(i, err)
		return
	}
	if r.off == len(r.dst) {
		if r.way == Direct {
			q.dev.count.direct++
		} else {
			q.dev.count.copy++
		}
		r.finish(i, verbs.StatusOK)
	}
}

func (r *read) copyPiece(e *region, at uint64, n int) (int, error) {
	dst := r.dst[r.off : r.off+n]
	if n == 0 {
		return 0, nil
	}
	if r.way == Copy {
		return r.qp.link.readVM(dst, at)
	}
	mem, err := r.qp.link.mapArena()
	if err != nil {
		return 0, err
	}
	from := e.off + (at - e.addr) // both are the peer's word: check the sum
	if from > uint64(len(mem)) || uint64(n) > uint64(len(mem))-from {
		return 0, errOutside
	}
	return copy(dst, mem[from:]), nil
}

// denied goes on by another way when one has failed.
func (r *read) denied(i int, err error) {
	q := r.qp
	if err == errOutside {
		r.finish(i, verbs.StatusRemoteAccess)
		return
	}
	was := r.way
	if was == Copy {
		q.link.vm = false
	} else {
		q.link.noArena = true
	}
	q.dev.work.Add(-1)
	r.way = Stream
	r.gen++
	if !q.askStream(i, r) {
		// The ring is full: stay in the list, fail again, and ask when there is
		// room. Not by single copy: that was checked for the right process.
		r.way = was
		q.dev.work.Add(1)
		return
	}
	q.dev.count.denied++
}

// checkStalls looks for streamed reads whose target doesn't move.
func (d *Device) checkStalls() {
	var now time.Time
	for i, r := range d.inFlight {
		if r.way != Stream || !r.qp.link.vm || d.cfg.Read == Stream {
			continue
		}
		if now.IsZero() {
			now = time.Now()
		}
		if r.last.IsZero() {
			r.last = now
		}
		if now.Sub(r.last) < stallTime {
			continue
		}
		r.qp.pace.stalled(len(r.dst))
		r.withdraw()
		d.count.stalls++
		r.way = Copy
		d.work.Add(1)
		r.move(i)
	}
}
