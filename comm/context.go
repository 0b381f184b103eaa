package comm

import "errors"

// Contexts keep messages apart that have nothing to do with each other. A
// communicator has one number, and with some of these bits spaces beside it for the
// messages that are not the program's own.
const (
	// hidden is for the calls that are made of messages themselves, like Barrier.
	hidden = 1 << 31
	// twin is for the messages of Comm.Hidden.
	twin = 1 << 30
	// creating is for those of Comm.Create, whose tags are the program's.
	creating = 1 << 29
	// announcing is for what partitioned sends say of themselves, whose tags are the
	// program's, and partition for their partitions.
	announcing = 1 << 28
	partition  = announcing | hidden
	// endContext is above the numbers of communicators.
	endContext = 1 << 28

	spaces = hidden | twin | creating | announcing
)

// Numbers that no call gives out.
const (
	noContext    = 0 // no communicator's
	worldContext = 1
	firstContext = 2
)

// closeContext is for the barrier of Close, in which ranks go on that have said
// goodbye.
const closeContext = noContext | hidden

var errContexts = errors.New("no communicator is left: too many were made")

// newContext is a context that no communicator has had, or noContext if there is none
// left: rank r of the world gives out the numbers that are r modulo its size, each
// once, whatever communicator it is for, and the new one's members agree on who of
// them chooses. So ranks that make communicators at the same time, in different
// orders, get along; and nothing that is still on its way meets a successor's
// receives.
func (w *World) newContext() uint32 {
	w.eng.Lock()
	defer w.eng.Unlock()
	if last := len(w.spareContexts) - 1; last >= 0 {
		id := w.spareContexts[last]
		w.spareContexts = w.spareContexts[:last]
		return id
	}
	id := firstContext + w.contexts*uint64(w.size) + uint64(w.rank)
	if id >= endContext {
		return noContext
	}
	w.contexts++
	return uint32(id)
}

// unused takes back a number that all ranks know was not chosen.
func (w *World) unused(id uint32) {
	if id == noContext {
		return
	}
	w.eng.Lock()
	defer w.eng.Unlock()
	w.spareContexts = append(w.spareContexts, id)
}

// numbers is a set of contexts: of each rank, a bit for each number that it gives out.
// A communicator that was freed leaves that bit and nothing else.
type numbers [][]uint64

// place is where a communicator's context is in a set, whatever its space: the rank
// that gives it out, and its number among that rank's. The world's is in none.
func (w *World) place(context uint32) (giver int, number uint64, made bool) {
	id := context &^ spaces
	if id < firstContext {
		return 0, 0, false
	}
	size := uint32(w.size)
	return int((id - firstContext) % size), uint64((id - firstContext) / size), true
}

// isFreed says whether a context is of a communicator that this rank has freed. The
// lock is held.
func (w *World) isFreed(context uint32) bool {
	if w.freed == nil {
		return false
	}
	giver, n, made := w.place(context)
	bits := w.freed[giver]
	return made && n/64 < uint64(len(bits)) && bits[n/64]>>(n%64)&1 != 0
}

// setFreed notes that a communicator was freed.
func (w *World) setFreed(context uint32) {
	giver, n, _ := w.place(context)
	if w.freed == nil {
		w.freed = make(numbers, w.size)
	}
	bits := &w.freed[giver]
	if more := int(n/64) + 1 - len(*bits); more > 0 {
		*bits = append(*bits, make([]uint64, more)...)
	}
	(*bits)[n/64] |= 1 << (n % 64)
	w.late = true
}
