package coll

import "fmt"

// kind is which collective a call is. It goes into the tag of each of its messages.
type kind int

const (
	bcast kind = iota + 1
	reduce
	allreduce
	reduceScatter
	scan
	exscan
	gather
	gatherv
	allgather
	allgatherv
	scatter
	scatterv
	alltoall
	alltoallv
)

var names = [...]string{
	bcast: "Bcast", reduce: "Reduce", allreduce: "Allreduce", reduceScatter: "ReduceScatter", scan: "Scan", exscan: "Exscan",
	gather: "Gather", gatherv: "Gatherv", allgather: "Allgather", allgatherv: "Allgatherv",
	scatter: "Scatter", scatterv: "Scatterv", alltoall: "Alltoall", alltoallv: "Alltoallv",
}

// rooted says whether the collective has a root.
func (k kind) rooted() bool {
	switch k {
	case bcast, reduce, gather, gatherv, scatter, scatterv:
		return true
	}
	return false
}

// A tag says what its sender takes the call to be, so that ranks which make different
// calls notice: bits 0 to 3 the kind, 4 to 6 the algorithm, from 7 the root, of which
// the lowest bits must do if there are more than 2²³ ranks. Kind 0 is for the messages of
// calls that have failed; see failure.go.
const (
	kindBits = 4
	wayBits  = 3
	rootBits = 31 - kindBits - wayBits

	tagFailed = 1 << kindBits // nothing in it
	tagReason = 2 << kindBits // the reason, behind it
)

// way is which algorithm the messages belong to.
type way int

const (
	tree     way = iota + 1 // binomial tree
	doubling                // recursive doubling, or Bruck's for other than powers of two
	halving                 // Rabenseifner: recursive halving, and doubling back
	ring                    // ring, or scatter and ring
	direct                  // each message from its source to its destination
	bruck                   // Bruck's, of an all-to-all
)

func tagOf(k kind, w way, root int) int {
	return int(k) | int(w)<<kindBits | (root&(1<<rootBits-1))<<(kindBits+wayBits)
}

// describe says which call a tag is of.
func describe(tag int) string {
	k := kind(tag & (1<<kindBits - 1))
	switch {
	case int(k) >= len(names) || names[k] == "":
		return fmt.Sprintf("a message of tag %d", tag)
	case k.rooted():
		return fmt.Sprintf("%s to or from rank %d", names[k], tag>>(kindBits+wayBits))
	}
	return names[k]
}
