//go:build linux

package shm

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// pieceSize is how much is copied in one go: copies can't be preempted, and
// stop the world's stopping.
const pieceSize = 256 << 10

// stallTime is how long a streamed read waits for a chunk before it takes the
// rest by single copy: its target is computing, or has no core.
const stallTime = 200 * time.Microsecond

// read is a read by this device.
type read struct {
	qp     *qp // nil: free
	id     uint64
	number uint64 // in the queue pair's order
	flags  verbs.Flags
	way    Way
	gen    uint32
	word   *line // in this device's segment: gen while the peer may stream to us
	dst    []byte
	off    int // bytes that have arrived
	remote verbs.Remote
	start  time.Time // zero: its time is not taken
}

func (d *Device) initReads() {
	words := views[line](d.seg, readOff, maxReads)
	d.reading = make([]read, maxReads)
	d.freeRd = make([]int, maxReads)
	for i := range d.reading {
		d.reading[i].word = &words[i]
		d.freeRd[i] = maxReads - 1 - i
	}
}

// inFlight goes through the reads that are not over, oldest first. The loop's body
// may end the read that it is at.
func (d *Device) inFlight(yield func(i int, r *read) bool) {
	for k := 0; k < len(d.running); {
		i := d.running[k]
		if !yield(i, &d.reading[i]) {
			return
		}
		if k < len(d.running) && d.running[k] == i {
			k++
		}
	}
}

// read starts a read.
func (q *qp) read(wr *verbs.SendWR) error {
	d := q.dev
	if q.reads >= q.depth || len(d.freeRd) == 0 || q.sendCQ.full() {
		return q.full(lackEnd)
	}
	i := d.freeRd[len(d.freeRd)-1]
	r := &d.reading[i]
	r.id, r.flags, r.dst, r.off, r.remote = wr.ID, wr.Flags, wr.Data, 0, wr.Remote
	r.way, r.start = q.chooseWay(wr.Remote, len(wr.Data)), time.Time{}
	if q.timed(len(wr.Data)) {
		r.start = time.Now()
	}
	r.gen++
	if r.way == Stream && !q.askStream(i, r) {
		r.dst = nil // the caller's
		return q.full(lackCell)
	}
	r.qp, r.number = q, q.reading(r)
	d.freeRd = d.freeRd[:len(d.freeRd)-1]
	d.running = append(d.running, i)
	q.reads++
	if r.way != Stream {
		d.work.Add(1)
		r.move(i)
	}
	return nil
}

// askStream asks the peer for what is missing.
func (q *qp) askStream(i int, r *read) bool {
	if !q.link.warm {
		q.link.warm = true
		// One call instead of a fault for each page, in the middle of a message.
		_ = unix.Madvise(q.link.chunks, unix.MADV_POPULATE_READ)
	}
	// The peer loads the word before each chunk, and stops when it differs:
	// that is how a read is withdrawn.
	r.word.word.Store(uint64(r.gen))
	if !q.control(kindRead, r.remote.Addr+uint64(r.off), r.remote.Key, uint64(len(r.dst)-r.off), uint64(r.gen)<<32|uint64(i)) {
		r.word.word.Store(0)
		return false
	}
	if q.streaming == 0 {
		q.heard = time.Time{}
	}
	q.streaming++
	q.dev.streaming++
	return true
}

// withdraw ends the streaming of a read: what still comes is dropped.
func (r *read) withdraw() {
	r.word.word.Store(0)
	r.gen++
	r.qp.streaming--
	r.qp.dev.streaming--
}

// finish completes the read. Nothing writes dst after it.
func (r *read) finish(i int, s verbs.Status) {
	q := r.qp
	d := q.dev
	if r.way == Stream {
		r.withdraw()
	} else {
		d.work.Add(-1)
	}
	if s == verbs.StatusOK {
		q.measure(r)
	}
	r.qp, r.dst = nil, nil
	q.reads--
	d.freeRd = append(d.freeRd, i)
	at := slices.Index(d.running, i)
	d.running = slices.Delete(d.running, at, at+1)
	q.readOver(r.number, s)
}

// Abort implements verbs.QP.
func (q *qp) Abort(id uint64) {
	for i, r := range q.dev.inFlight {
		if r.qp == q && r.id == id {
			r.finish(i, verbs.StatusAborted)
			return
		}
	}
}

// find returns the read that a peer's message is about, or -1 if that read has
// ended.
func (q *qp) find(token uint64) int {
	i := int(uint32(token))
	if i >= maxReads {
		return -1
	}
	if r := &q.dev.reading[i]; r.qp != q || r.way != Stream || uint64(r.gen) != token>>32 {
		return -1
	}
	return i
}

// readChunk takes the next bytes of a streamed read.
func (q *qp) readChunk(token, chunk, n uint64) bool {
	if n == 0 || n > chunkMost || chunk >= chunkUnits || n > (chunkUnits-chunk)*chunkUnit {
		return false
	}
	q.heard = time.Time{}
	if i := q.find(token); i >= 0 {
		r := &q.dev.reading[i]
		if n > uint64(len(r.dst)-r.off) {
			return false
		}
		copy(r.dst[r.off:], q.link.chunks[chunk*chunkUnit:][:n])
		r.off += int(n)
		if r.off == len(r.dst) {
			q.dev.count.stream++
			r.finish(i, verbs.StatusOK)
		}
	}
	q.giveBack(int(n))
	return true
}

// readFailed takes the peer's refusal to stream.
func (q *qp) readFailed(token, why uint64) bool {
	s := verbs.Status(why)
	if s == verbs.StatusOK || s > verbs.StatusDevice || uint64(s) != why {
		return false
	}
	if i := q.find(token); i >= 0 {
		q.dev.reading[i].finish(i, s)
	}
	return true
}
