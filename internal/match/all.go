package match

import (
	"cmp"
	"iter"
	"slices"
)

// Posted returns the posted receives whose keys keep returns true for, or all
// if keep is nil, in the order in which they were posted: to fail the
// receives from a dead peer, to drop those of a freed communicator, to list
// what is blocked. The loop's body may change the table: what it takes out is
// not visited any more, nor what it queues.
func (t *Table[R, M]) Posted(keep func(Key) bool) iter.Seq[*R] {
	return func(yield func(*R) bool) {
		for _, p := range t.posted.sorted(keep) {
			if p.unchanged() && !yield(recvOf[R](p.node).val) {
				return
			}
		}
	}
}

// Unexpected returns the unexpected messages whose keys keep returns true for,
// or all if keep is nil, in the order in which they arrived. The loop's body
// may change the table: what it takes out is not visited any more, nor what it
// queues, unless it puts it back in its place.
func (t *Table[R, M]) Unexpected(keep func(Key) bool) iter.Seq[*M] {
	return func(yield func(*M) bool) {
		for _, p := range t.unexp.sorted(keep) {
			if p.unchanged() && !yield(recordOf[M](p.node)) {
				return
			}
		}
	}
}

// sorted returns every message once.
func (q *unexpectedQueue[M]) sorted(keep func(Key) bool) []place {
	return q.index.sorted(func(k Key) bool {
		return k.form() == exact && (keep == nil || keep(k))
	})
}

// place is a node and its place in the order at some time.
type place struct {
	*node
	at Seq
}

// unchanged reports whether the node is still in its place: it may have been
// taken out, and queued for something else.
func (p place) unchanged() bool { return p.queued() && p.seq == p.at }

// sorted returns the nodes of the keys that keep returns true for, or all, in
// order.
func (x *index) sorted(keep func(Key) bool) []place {
	var all []place
	for _, head := range x.buckets {
		for ; head != nil; head = head.chain {
			if keep != nil && !keep(head.key) {
				continue
			}
			for n := head; n != nil; n = n.next {
				all = append(all, place{n, n.seq})
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	return all
}
