package progress

import (
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/verbena-mpi/verbena/verbs"
)

// Handler takes a completion. It runs with the engine's lock held, must not
// block, and must not keep the completion.
type Handler func(*verbs.Completion)

// Config is the engine's configuration. The zero value works.
type Config struct {
	// OwnCore says that no other rank shares this rank's core, so that
	// spinning harms nobody.
	OwnCore bool
	// Background starts the goroutine that sleeps for solicited events while
	// nobody drives.
	Background bool
	// Channels makes the engine sleep on channels: for a device that is a
	// verbs.Waker, and for testing/synctest.
	Channels bool
}

// batch is how many completions one poll of a queue takes.
const batch = 16

// Engine polls completion queues. Create it with New.
type Engine struct {
	cfg Config

	// mu guards what follows, the calls of all devices (but Pending), and the
	// state of the protocols.
	mu      sync.Mutex
	recv    []*source
	send    []*source
	lone    bool        // one receive queue, which is looked at fast
	slow    bool        // some are looked at slowly
	fast    *source     // the only one that is looked at fast, or nil
	needs   int         // how many wait for send completions
	pending []Flusher   // what could not be sent
	driving bool        // somebody has the driver's role
	looking bool        // the driver looks at the queues without the lock
	asleep  bool        // the driver sleeps: posts must kick it
	parked  waiterList  // goroutines that wait while another drives
	others  int         // completions, in this poll, of requests that others wait for
	waits   recentWaits // decides how long to yield before sleeping
	drives  uint64      // how often the role was taken, for the background goroutine
	waiting int         // goroutines in Wait
	closed  bool
	left    chan struct{} // closed when the last has left Wait after Close
	useful  uint64        // see Useful
	count   Counters
	out     [batch]verbs.Completion
	drained [batch]verbs.Completion // apart from out: handlers may drain

	draining bool // drained is in use

	sleeper sleeper
	chans   chanSleeper
	back    background
}

// source is a completion queue with its handler.
type source struct {
	cq     verbs.CQ
	handle Handler
	quiet  uint32 // polls in a row that found nothing
	skip   uint32 // polls to leave out
	needs  int    // of a send queue: how many wait for its completions
	slow   bool   // see slow.go
	pace   pace
}

// Flusher is something that could not be sent, and is tried again at each poll
// until Flush says that nothing is left.
type Flusher interface {
	Flush() (done bool)
}

// New makes an engine. Its device is added with AddDevice.
func New(c Config) (*Engine, error) {
	e := &Engine{cfg: c}
	if c.Channels {
		e.chans.open()
	} else if err := e.sleeper.open(); err != nil {
		return nil, err
	}
	if c.Background {
		if err := e.startBackground(); err != nil {
			e.closeSleeper()
			return nil, err
		}
	}
	return e, nil
}

// ErrClosed ends waits.
var ErrClosed = fmt.Errorf("progress: the engine is closed: %w", net.ErrClosed)

// Close stops the engine. It ends all waits, with ErrClosed, and returns when
// the last who waited has given the lock back: afterwards no queue is touched.
func (e *Engine) Close() {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return
	}
	e.closed = true
	if e.asleep {
		e.kick()
	}
	for e.parked.head != nil {
		e.unpark(e.parked.head)
	}
	left := make(chan struct{})
	if e.waiting == 0 {
		close(left) // and nobody who comes from now on closes it again
	} else {
		e.left = left
	}
	e.mu.Unlock()
	<-left
	e.mu.Lock() // which the last to leave still had
	e.left = nil
	e.mu.Unlock()
	e.stopBackground()
	e.closeSleeper()
}

func (e *Engine) closeSleeper() {
	if !e.chans.on() {
		e.sleeper.close()
	}
}

// Lock takes the engine's lock, under which the devices' calls are made and the
// protocols' state is read and written.
func (e *Engine) Lock() { e.mu.Lock() }

// Unlock gives it back.
func (e *Engine) Unlock() { e.mu.Unlock() }

// AddRecv adds a receive CQ: it is polled whenever somebody drives. Slow is its
// device's Attr.SlowLook. The lock is held, since the background goroutine may drive
// already.
func (e *Engine) AddRecv(cq verbs.CQ, slow bool, h Handler) {
	e.recv = append(e.recv, &source{cq: cq, slow: slow, handle: h})
	e.slow = e.slow || slow
	e.lone = len(e.recv) == 1 && !slow
	e.fast = nil
	if i := slices.IndexFunc(e.recv, isFast); i >= 0 && !slices.ContainsFunc(e.recv[i+1:], isFast) {
		e.fast = e.recv[i]
	}
}

func isFast(s *source) bool { return !s.slow }

// AddSend adds a send CQ: it is polled while NeedSends of it is above zero or something
// waits to be sent, and by Drain.
func (e *Engine) AddSend(cq verbs.CQ, slow bool, h Handler) {
	e.send = append(e.send, &source{cq: cq, slow: slow, handle: h})
}

// NeedSends changes by n the number of those who wait for completions of a send CQ. The
// lock is held.
func (e *Engine) NeedSends(cq verbs.CQ, n int) {
	for _, s := range e.send {
		if s.cq == cq {
			s.needs += n
			e.needs += n
		}
	}
}

// Later has f tried again at each poll. The lock is held.
func (e *Engine) Later(f Flusher) {
	e.pending = append(e.pending, f)
	e.Posted()
}

// Posted must be called, with the lock held, after something was posted that
// only a poll moves on: who sleeps, driver or background, is woken to look.
func (e *Engine) Posted() {
	if e.asleep || e.back.armed {
		e.kick()
	}
}

// Poll makes one pass over the queues, unless somebody else drives: then nothing
// is left to do. The lock is held. It returns how many completions it found.
func (e *Engine) Poll() int {
	if e.driving || e.closed {
		return 0
	}
	e.drives++
	e.disarmBackground()
	if e.slow {
		e.hurry()
	}
	return e.poll()
}

// Drain polls a send CQ that was added, because its send queue runs low. The lock
// is held. A handler that drains while another drain is under way finds nothing:
// what it wants comes after it. Nor does anybody while the driver looks without the
// lock, since no device is polled meanwhile (verbs, Concurrency): it polls this queue
// next, if something is pending (Later).
func (e *Engine) Drain(cq verbs.CQ) int {
	if e.draining || e.looking {
		return 0
	}
	for _, s := range e.send {
		if s.cq == cq {
			e.count.SendPolls++
			e.draining = true
			n := cq.Poll(e.drained[:])
			for i := range n {
				s.handle(&e.drained[i])
			}
			e.draining = false
			return n
		}
	}
	return 0
}

// poll makes one pass. The caller has the lock and the driver's role.
func (e *Engine) poll() int {
	n := 0
	if len(e.recv) == 1 {
		s := e.recv[0] // by hand what take does
		e.count.RecvPolls++
		n = s.cq.Poll(e.out[:])
		for i := range n {
			s.handle(&e.out[i])
		}
	} else {
		n = e.pollInTurn()
	}
	if e.needs > 0 || len(e.pending) != 0 {
		n += e.pollSends()
	}
	return n
}

// pollInTurn polls several receive CQs, and those that stay quiet less often.
func (e *Engine) pollInTurn() int {
	n := 0
	for _, s := range e.recv {
		if !s.turn() {
			e.count.SkippedPolls++
			continue
		}
		e.count.RecvPolls++
		got := e.take(s)
		s.rest(got)
		n += got
	}
	return n
}

// pollSends polls the send CQs, and tries what is pending. What waits for room is
// armed for in a send queue; completions that nobody took there would keep the
// driver from sleeping.
func (e *Engine) pollSends() int {
	n := 0
	for _, s := range e.send {
		if s.slow && s.needs == 0 && !s.pace.poll() {
			continue // beside another device's that is needed
		}
		e.count.SendPolls++
		got := e.take(s)
		if s.slow {
			s.pace.polled(got != 0)
		}
		n += got
	}
	if len(e.pending) != 0 {
		e.flush()
	}
	return n
}

// take polls one queue.
func (e *Engine) take(s *source) int {
	n := s.cq.Poll(e.out[:])
	for i := range n {
		s.handle(&e.out[i])
	}
	return n
}

// flush tries what is pending, and what comes to it in the meantime.
func (e *Engine) flush() {
	kept := 0
	for i := 0; i < len(e.pending); i++ {
		if f := e.pending[i]; !f.Flush() {
			e.pending[kept] = f
			kept++
		}
	}
	clear(e.pending[kept:])
	e.pending = e.pending[:kept]
}

// somethingPending says, without the lock, whether a poll may find something.
func (e *Engine) somethingPending() bool {
	for _, s := range e.recv {
		if s.cq.Pending() {
			return true
		}
	}
	return false
}
