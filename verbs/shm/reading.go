//go:build linux

package shm

import "github.com/verbena-mpi/verbena/verbs"

// readingSize is the size of a read that stands for the large ones.
const readingSize = 1 << 20

// Reading implements verbs.Reader. Memory that is mapped is read directly in any case.
func (q *qp) Reading() (r verbs.Reading, connected bool) {
	if q.link == nil {
		return r, false
	}
	r.SingleCopy = q.link.vm
	way := q.dev.cfg.Read
	switch c := q.pace.of(readingSize); {
	case !q.link.vm:
		way = Stream
	case way == Stream || way == Copy:
	case c.mid == 0:
		way = Auto
	default:
		way = c.best
	}
	r.Way = way.String()
	return r, true
}
