//go:build linux

package shm

import (
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// advance moves the reads that this side copies, oldest first, by about a piece in
// all, and the peers' reads that it serves, by a chunk each.
func (d *Device) advance() {
	budget := pieceSize
	for i, r := range d.inFlight {
		if r.way == Stream {
			continue
		}
		budget -= r.move(i)
		if budget <= 0 {
			break
		}
	}
	d.serveAll()
}

// move copies one piece of a direct or single-copy read. It returns its size.
func (r *read) move(i int) (copied int) {
	q := r.qp
	at, n := r.remote.Addr+uint64(r.off), min(len(r.dst)-r.off, pieceSize)
	e, status, busy := q.hold(r.remote.Key, at, uint64(n))
	if busy {
		return 0
	}
	if status != verbs.StatusOK {
		r.finish(i, status)
		return 0
	}
	got, err := r.copyPiece(e, at, n)
	e.release()
	r.off += got
	if err != nil {
		r.denied(i, err)
		return got
	}
	if r.off == len(r.dst) {
		if r.way == Direct {
			q.dev.count.direct++
		} else {
			q.dev.count.copy++
		}
		r.finish(i, verbs.StatusOK)
	}
	return got
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

// mayStall says whether a streamed read is waiting that could go on by single copy.
func (d *Device) mayStall() bool {
	if d.streaming == 0 || d.cfg.Read == Stream {
		return false
	}
	for _, r := range d.inFlight {
		if r.way == Stream && r.qp.link.vm {
			return true
		}
	}
	return false
}

// checkStalls looks for peers that were asked to stream and don't. Their reads go
// on by single copy.
func (d *Device) checkStalls() {
	now := time.Now()
	for _, r := range d.inFlight {
		q := r.qp
		if r.way != Stream || !q.link.vm || d.cfg.Read == Stream {
			continue
		}
		if q.heard.IsZero() {
			q.heard = now
		}
		if now.Sub(q.heard) < stallTime {
			continue
		}
		if q.stalled != d.polls {
			q.stalled = d.polls
			q.pace.stalled(len(r.dst))
		}
		r.withdraw()
		d.count.stalls++
		r.way = Copy
		d.work.Add(1) // advance moves it
	}
}
