package srq

import "slices"

// A credit is the right to send one message for which there is a slot. A sender
// uses one for each message that is matched at the receiver; what the protocols
// say among themselves (a finish, more credits) has slots of its own.
//
// No more credits are out than slots are posted, so no message finds none. Each
// sender has two of its own; half of the others are shared out among all senders
// at the start, a quarter is lent to those that are active, and a quarter is left
// for the answers to what this rank asks.
const (
	ownCredits   = 2 // that no other sender can get
	controlSlots = 2 // for each sender: messages that need no credit
)

// Account is what one sender may send. It belongs to a Queue, and is guarded like
// it.
type Account struct {
	queue   *Queue
	credits int  // that the sender holds, as far as is known here
	ebb     int  // with fewer it gets some with the next message to it; 0 before it was active
	low     int  // with no more than so many it gets some in any case
	active  bool // it has sent something
	stopped bool // it gets no more for now
	closed  bool
}

// Initial is how many credits each of so many senders has from the start.
func (c Config) Initial(senders int) int {
	if c.Mode == PerPeer {
		return ownCredits + c.lendable() - c.lendable()/4
	}
	return ownCredits + c.lendable()/2/max(senders, 1)
}

// lendable is how many credits there are besides those that senders own.
func (c Config) lendable() int { return max(int(float64(c.Slots)*max(c.Overcommit, 1)), c.Slots) }

// Open makes a the account of one more sender, which holds the initial credits.
func (q *Queue) Open(a *Account, initial int) {
	*a = Account{queue: q, credits: initial, low: initial}
	q.accounts = append(q.accounts, a)
	q.free -= a.held() - ownCredits // which were set apart when the queue was made
	q.settle()
}

// held is for how many messages of the sender slots are kept.
func (a *Account) held() int { return max(a.credits, ownCredits) }

// Used notes a message of the sender that needed a credit, before its slot, if it
// took one, is released. It returns false if the sender had none.
func (a *Account) Used(took bool) bool {
	if took || a.credits <= a.low {
		return a.usedAny(took)
	}
	a.credits--
	a.queue.free++
	return true
}

func (a *Account) usedAny(took bool) bool {
	q := a.queue
	if !a.active && !a.closed {
		a.active = true
		q.active++
		q.settle()
	}
	if took {
		q.free-- // until it is posted again
	}
	if a.credits == 0 {
		return false
	}
	before := a.held()
	a.credits--
	q.free += before - a.held()
	return true
}

// Took notes a message that needed no credit, and took a slot.
func (a *Account) Took() { a.queue.free-- }

// Ebbs says that the sender should get credits with the next message that goes to
// it; Low that it should get some without waiting for one.
func (a *Account) Ebbs() bool { return a.credits < a.ebb }

// Low: see Ebbs.
func (a *Account) Low() bool { return a.credits <= a.low && a.canGet() }

func (a *Account) canGet() bool {
	return a.active && !a.stopped && a.credits < a.queue.share && (a.credits < ownCredits || a.queue.free > 0 || a.queue.n > 0)
}

// Grant returns how many credits the sender gets now, at most so many.
func (a *Account) Grant(most int) int {
	q := a.queue
	want := min(q.share-a.credits, most)
	if want <= 0 || a.stopped {
		return 0
	}
	own := max(ownCredits-a.credits, 0)
	if q.free < want-own {
		q.Flush()
	}
	n := min(want, max(own+q.free, 0)) // free is below 0 while its own slots are read
	before := a.held()
	a.credits += n
	q.free -= a.held() - before
	return n
}

// Back takes credits back that were granted and did not leave.
func (a *Account) Back(n int) {
	before := a.held()
	a.credits -= n
	a.queue.free += before - a.held()
}

// Stop has the sender get no more credits, because too much of what it sent waits,
// or lets it get some again.
func (a *Account) Stop(stop bool) { a.stopped = stop }

// Close gives back what a sender that is gone has held.
func (a *Account) Close() {
	q := a.queue
	q.free += a.held() // its own too
	a.credits = 0
	if a.active {
		a.active = false
		q.active--
	}
	a.stopped, a.closed = true, true
	i := slices.Index(q.accounts, a)
	q.accounts = slices.Delete(q.accounts, i, i+1)
	q.settle()
}

// Reserve keeps a slot for a message of a peer that will need no credit: the
// answer to what is about to be asked. Unreserve gives it back.
func (q *Queue) Reserve() bool {
	if q.free <= 0 {
		q.Flush()
	}
	if q.free <= 0 {
		return false
	}
	q.free--
	return true
}

// Unreserve: see Reserve.
func (q *Queue) Unreserve() { q.free++ }

// settle works out how many credits each sender can have.
func (q *Queue) settle() {
	q.share = q.initial
	if q.shared {
		q.share += q.lendable / 4 / max(q.active, 1)
	}
	for _, a := range q.accounts {
		if a.active {
			a.ebb = q.share - q.share/4
			a.low = max(a.ebb/2, ownCredits)
		}
	}
}
