//go:build linux

package tcp

import "github.com/verbena-mpi/verbena/verbs"

// entry is a request that is not complete.
type entry struct {
	id       uint64
	end      uint64 // of a send: it is done when so much of the outbox has left
	op       verbs.Op
	status   verbs.Status
	signaled bool
	done     bool // a read is over
}

// ring is a queue pair's requests, oldest first.
type ring struct {
	entries    []entry // a power of two of them
	head, tail uint64
}

func (r *ring) len() int { return int(r.tail - r.head) }

func (r *ring) at(i uint64) *entry { return &r.entries[i&uint64(len(r.entries)-1)] }

func (r *ring) front() *entry { return r.at(r.head) }

// push adds a request and returns its number.
func (r *ring) push(e entry) uint64 {
	if r.len() == len(r.entries) {
		r.grow()
	}
	*r.at(r.tail) = e
	r.tail++
	return r.tail - 1
}

func (r *ring) pop() { r.head++ }

func (r *ring) grow() {
	old := *r
	r.entries = make([]entry, max(2*len(old.entries), 16))
	for i := old.head; i != old.tail; i++ {
		*r.at(i) = *old.at(i)
	}
}
