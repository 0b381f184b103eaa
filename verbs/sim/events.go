package sim

import (
	"container/heap"
	"time"
)

// event is something that happens at a time. Events of the same time happen in
// the order they were scheduled.
type event struct {
	at      time.Duration
	seq     uint64
	run     func()
	outside bool // runs without the network's lock
	off     bool // was cancelled
}

// cancel takes the event back. Nil is allowed.
func (ev *event) cancel() {
	if ev != nil {
		ev.off = true
	}
}

// schedule adds an event. The lock is held.
func (n *Network) schedule(at time.Duration, run func()) *event {
	n.seq++
	ev := &event{at: max(at, n.now), seq: n.seq, run: run}
	heap.Push(&n.events, ev)
	return ev
}

// step runs the next event if there is one, not later than end where end is
// not negative. The lock is held.
func (n *Network) step(end time.Duration) bool {
	ev := n.events.first()
	if ev == nil || end >= 0 && ev.at > end {
		return false
	}
	heap.Pop(&n.events)
	n.now = ev.at
	if ev.outside {
		n.mu.Unlock()
		defer n.mu.Lock()
	}
	ev.run()
	return true
}

// eventQueue is a heap by time and order.
type eventQueue []*event

// first is the next event that was not cancelled, or nil.
func (q *eventQueue) first() *event {
	for len(*q) > 0 {
		if ev := (*q)[0]; !ev.off {
			return ev
		}
		heap.Pop(q)
	}
	return nil
}

func (q eventQueue) Len() int { return len(q) }

func (q eventQueue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].seq < q[j].seq
}

func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *eventQueue) Push(x any) { *q = append(*q, x.(*event)) }

// Pop implements heap.Interface.
func (q *eventQueue) Pop() any {
	old := *q
	ev := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return ev
}
