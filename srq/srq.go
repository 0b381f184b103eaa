// Package srq keeps receive buffers: preposted, preregistered slots, in one
// receive queue that all queue pairs share, or in one queue per peer. Which of
// the two is a setting. A message that took a slot gives it back through
// Queue.Release; slots are reposted in batches, because a repost takes a cache
// line, or a doorbell, away from those who send.
//
// It also keeps the accounts of those who send (Account): how many credits each
// holds, so that no more messages are under way than there are slots.
package srq

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// Mode says how queue pairs get their receive slots.
type Mode uint8

// Modes. Auto is Shared.
const (
	Auto    Mode = iota
	Shared       // one queue for all: memory doesn't grow with peers
	PerPeer      // a queue for each peer: no peer can use up another's slots
)

var modeNames = [...]string{"auto", "srq", "peer"}

func (m Mode) String() string { return modeNames[m] }

// ParseMode reads "auto", "srq" or "peer".
func ParseMode(s string) (Mode, error) {
	for i, n := range modeNames {
		if s == n {
			return Mode(i), nil
		}
	}
	return Auto, fmt.Errorf("%q is not a kind of receive queue: want srq or peer", s)
}

// Config describes the receive queues of a rank.
type Config struct {
	Mode     Mode
	Slots    int // in the shared queue, or in each peer's; a few more for each peer
	SlotSize int // bytes: header and payload of the largest message
	Peers    int // senders
	// Overcommit lends so many times as many credits as there are slots. Above 1
	// a message may find no slot: it waits, and is counted. For studies.
	Overcommit float64
}

// batchMost is how many slots are kept back before they are reposted at once.
const batchMost = 16

// Pool makes the queues of one device.
type Pool struct {
	dev    verbs.Device
	cfg    Config
	shared *Queue
	queues []*Queue
}

// New makes a pool; the shared queue's slots are posted at once.
func New(dev verbs.Device, c Config) (*Pool, error) {
	p := &Pool{dev: dev, cfg: c}
	if c.Mode != PerPeer {
		q, err := p.newQueue()
		if err != nil {
			return nil, err
		}
		p.shared = q
	}
	return p, nil
}

// Queue returns the receive queue for one more queue pair.
func (p *Pool) Queue() (*Queue, error) {
	if p.shared != nil {
		return p.shared, nil
	}
	return p.newQueue()
}

func (p *Pool) newQueue() (*Queue, error) {
	low := p.cfg.Slots / 4
	shared := p.cfg.Mode != PerPeer
	peers := 1
	if shared {
		peers = max(p.cfg.Peers, 1)
	}
	slots := p.cfg.Slots + (ownCredits+controlSlots)*peers
	rq, err := p.dev.NewRQ(verbs.RQConfig{Shared: shared, Slots: slots, SlotSize: p.cfg.SlotSize, Low: low})
	if err != nil {
		return nil, fmt.Errorf("srq: %d slots of %d bytes: %w", slots, p.cfg.SlotSize, err)
	}
	q := &Queue{
		rq: rq, slots: slots, low: low, every: min(max(p.cfg.Slots/8, 1), batchMost),
		shared: shared, initial: p.cfg.Initial(p.cfg.Peers), lendable: p.cfg.lendable(), free: p.cfg.lendable(),
	}
	q.settle()
	p.queues = append(p.queues, q)
	return q, nil
}

// Mode is what the pool's queues are: Shared or PerPeer.
func (p *Pool) Mode() Mode {
	if p.shared != nil {
		return Shared
	}
	return PerPeer
}

// Bytes is the memory of all slots: constant in peers when shared, linear when
// not.
func (p *Pool) Bytes() int64 {
	var slots int64
	for _, q := range p.queues {
		slots += int64(q.slots)
	}
	return slots * int64(p.cfg.SlotSize)
}

// Counters are what the pool's queues have done.
type Counters struct {
	Released uint64 // slots given back
	Reposts  uint64 // batches in which they were
	Lows     uint64 // low-watermark events
}

// Counters adds up all queues.
func (p *Pool) Counters() (c Counters) {
	for _, q := range p.queues {
		c.Released += q.count.Released
		c.Reposts += q.count.Reposts
		c.Lows += q.count.Lows
	}
	return c
}

// Queue is one receive queue, with the slots that wait to be reposted.
type Queue struct {
	rq     verbs.RQ
	slots  int
	batch  [batchMost]verbs.Slot
	n      int
	every  int
	low    int
	scarce bool // fewer than low were posted, when last seen
	count  Counters

	// Credits: see Account.
	shared   bool
	lendable int
	free     int // slots that are posted, less those that are kept for a sender
	initial  int // credits of each sender from the start
	active   int // senders that have sent something
	share    int // credits that an active sender can have
	accounts []*Account
}

// Slots is how many slots there are in all.
func (q *Queue) Slots() int { return q.slots }

// RQ is the device's queue.
func (q *Queue) RQ() verbs.RQ { return q.rq }

// Release gives a slot back; its view ends. NoSlot is nothing.
func (q *Queue) Release(s verbs.Slot) {
	if s == verbs.NoSlot {
		return
	}
	q.batch[q.n] = s
	q.n++
	q.count.Released++
	if q.n >= q.every || q.scarce {
		q.Flush()
	}
}

// Flush reposts what Release kept back.
func (q *Queue) Flush() {
	if q.n == 0 {
		return
	}
	q.rq.Repost(q.batch[:q.n])
	q.free += q.n
	q.n = 0
	q.count.Reposts++
	if q.scarce {
		q.scarce = q.rq.Posted() < q.low
	}
}

// Low answers the low-watermark event: nothing is kept back until as many slots
// are posted again.
func (q *Queue) Low() {
	q.count.Lows++
	q.scarce = true
	q.Flush()
}
