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
func (t *Table[R, M]) Posted(keep func(Key) bool) iter.Seq[*Recv[R]] {
	return func(yield func(*Recv[R]) bool) {
		for _, p := range t.posted.sorted(keep) {
			if p.node.queued && p.node.seq == p.seq && !yield(p.node) {
				return
			}
		}
	}
}

// Unexpected returns the unexpected messages whose keys keep returns true for,
// or all if keep is nil, in the order in which they arrived. The loop's body
// may change the table: what it takes out is not visited any more, nor what it
// queues, unless it puts it back in its place.
func (t *Table[R, M]) Unexpected(keep func(Key) bool) iter.Seq[*Msg[M]] {
	return func(yield func(*Msg[M]) bool) {
		for _, p := range t.unexp.sorted(keep) {
			if p.node.queued && p.node.seq == p.seq && !yield(p.node) {
				return
			}
		}
	}
}

// place is a node and its place in the order. A node whose own place differs
// has been taken out and queued for something else since.
type place[N any] struct {
	node *N
	seq  Seq
}

func bySeq[N any](a, b place[N]) int { return cmp.Compare(a.seq, b.seq) }

func (q *postedQueue[R]) sorted(keep func(Key) bool) []place[Recv[R]] {
	var all []place[Recv[R]]
	for i := range q.bins.slots {
		r := q.bins.slots[i].first
		if r == nil || keep != nil && !keep(r.key) {
			continue
		}
		for ; r != nil; r = r.next {
			all = append(all, place[Recv[R]]{r, r.seq})
		}
	}
	slices.SortFunc(all, bySeq)
	return all
}

func (q *unexpectedQueue[M]) sorted(keep func(Key) bool) []place[Msg[M]] {
	var all []place[Msg[M]]
	for i := range q.bins.slots {
		s := &q.bins.slots[i]
		m := s.first
		if m == nil || s.key != m.key.pack() || keep != nil && !keep(m.key) {
			continue // unused, or of a wildcard form, or not wanted
		}
		for ; m != nil; m = m.links[exact].next {
			all = append(all, place[Msg[M]]{m, m.seq})
		}
	}
	slices.SortFunc(all, bySeq)
	return all
}
