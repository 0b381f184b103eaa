package verbstest

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// benchSide is one end of a benchmark, without the checks of end: it counts
// messages and looks at nothing else.
type benchSide struct {
	*end
	r     *rig
	wrs   []verbs.SendWR
	comps []verbs.Completion
	slots []verbs.Slot
	sends int
	spins int
	meet  func() // lets the peer move, while this side waits
}

// newBench opens two connected devices for messages of a size.
func newBench(b *testing.B, h Harness, size int) (r *rig, x, y *benchSide) {
	b.Helper()
	h.seeds = newSeeds(b)
	r, e, f := newPair(b, h, shape{depth: 64, slots: 256, slotSize: max(size, 64), inline: min(size, 64)})
	r.ping(e, f)
	x, y = r.newBenchSide(e, size), r.newBenchSide(f, size)
	return r, x, y
}

func (r *rig) newBenchSide(e *end, size int) *benchSide {
	s := &benchSide{end: e, r: r, comps: make([]verbs.Completion, 32)}
	mem, _, err := e.side.buffer(size)
	r.check(err)
	wr := verbs.SendWR{Op: verbs.OpSend, Data: mem}
	if size <= e.qp.Inline() {
		wr.Flags |= verbs.Inline
	}
	for range 16 {
		s.wrs = append(s.wrs, wr)
	}
	s.meet = func() {
		if s.spins++; s.spins%64 == 0 {
			runtime.Gosched()
		}
	}
	return s
}

// beside runs serve for side y again and again while x is measured, until stop
// is called.
func (r *rig) beside(x, y *benchSide, serve func() error) (stop func()) {
	if r.net.Step != nil {
		y.meet = r.step
		x.meet = func() {
			r.check(serve())
			r.step()
		}
		return func() {}
	}
	var over atomic.Bool
	end := make(chan error)
	go func() {
		for !over.Load() {
			if err := serve(); err != nil {
				end <- err
				return
			}
			y.meet()
		}
		end <- nil
	}()
	return func() {
		over.Store(true)
		r.check(<-end)
	}
}

// wait calls try until it says that it is done.
func (s *benchSide) wait(what string, try func() (bool, error)) error {
	var end time.Time
	for spins := 1; ; spins++ {
		done, err := try()
		if done || err != nil {
			return err
		}
		s.meet()
		if spins%(1<<16) != 0 {
			continue
		}
		if now := time.Now(); end.IsZero() {
			end = now.Add(s.r.limit)
		} else if now.After(end) {
			return fmt.Errorf("%v: still waiting after %v for %s", s.end, s.r.limit, what)
		}
	}
}

// signalEvery is how often a send is signaled, so that the queue is released.
const signalEvery = 16

// send posts n messages.
func (s *benchSide) send(n int) error {
	for n > 0 {
		wrs := s.wrs[:min(n, len(s.wrs))]
		for i := range wrs {
			wrs[i].Flags &^= verbs.Signaled
			if (s.sends+i)%signalEvery == signalEvery-1 {
				wrs[i].Flags |= verbs.Signaled
			}
		}
		done, err := s.qp.PostSend(wrs)
		s.sends += done
		n -= done
		switch {
		case err == nil:
		case errors.Is(err, verbs.ErrFull):
			if err := s.drain(); err != nil {
				return err
			}
			s.meet()
		default:
			return err
		}
	}
	return nil
}

// drain polls the send queue's completions once.
func (s *benchSide) drain() error {
	for _, c := range s.comps[:s.side.scq.Poll(s.comps)] {
		if c.Status != verbs.StatusOK {
			return fmt.Errorf("%v: %v of %v", s.end, c.Status, c.Op)
		}
	}
	return nil
}

// receive polls once, gives the slots back, and says how many messages came.
func (s *benchSide) receive() (n int, err error) {
	s.slots = s.slots[:0]
	for _, c := range s.comps[:s.side.rcq.Poll(s.comps)] {
		if c.Op != verbs.OpRecv {
			return n, fmt.Errorf("%v: %v, %v", s.end, c.Op, c.Status)
		}
		n++
		if c.Slot != verbs.NoSlot {
			s.slots = append(s.slots, c.Slot)
		}
	}
	if len(s.slots) > 0 {
		s.rq.Repost(s.slots)
	}
	return n, nil
}

// await receives n messages.
func (s *benchSide) await(n int) error {
	return s.wait("a message", func() (bool, error) {
		got, err := s.receive()
		n -= got
		return n <= 0, err
	})
}

// read reads remote memory and waits for it.
func (s *benchSide) read(local []byte, from verbs.Remote) error {
	wr := []verbs.SendWR{{Op: verbs.OpRead, Flags: verbs.Signaled, Data: local, Remote: from}}
	err := s.wait("room for a read", func() (bool, error) {
		n, err := s.qp.PostSend(wr)
		if errors.Is(err, verbs.ErrFull) {
			err = s.drain()
		}
		return n == 1, err
	})
	if err != nil {
		return err
	}
	return s.wait("a read", func() (bool, error) {
		n := s.side.scq.Poll(s.comps)
		for _, c := range s.comps[:n] {
			if c.Status != verbs.StatusOK {
				return false, fmt.Errorf("%v: read: %v", s.end, c.Status)
			}
			if c.Op == verbs.OpRead {
				return true, nil
			}
		}
		_, err := s.receive()
		return false, err
	})
}
