//go:build linux

package tcp

import "github.com/verbena-mpi/verbena/verbs"

// Reading implements verbs.Reader. There is one way: the owner's device sends what is
// read.
func (q *qp) Reading() (r verbs.Reading, connected bool) { return r, q.state == qpReady }
