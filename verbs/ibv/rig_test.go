//go:build ibv && cgo && linux

package ibv

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// side is one end in a test: a device's queues and a queue pair.
type side struct {
	t    *testing.T
	dev  verbs.Device
	cq   verbs.CQ // of both directions
	rq   verbs.RQ
	qp   verbs.QP
	got  []verbs.Completion
	give [1]verbs.Completion
}

func openTest(t *testing.T) verbs.Device {
	t.Helper()
	d, err := Open(Config{})
	if errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.ENOSYS) {
		t.Skip("no RDMA adapter here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil && !errors.Is(err, verbs.ErrClosed) {
			t.Error("close: ", err)
		}
	})
	return d
}

func newSide(t *testing.T, d verbs.Device, rc verbs.RQConfig, depth, inline int) *side {
	t.Helper()
	s := &side{t: t, dev: d}
	var err error
	if s.cq, err = d.NewCQ(64); err != nil {
		t.Fatal(err)
	}
	if s.rq, err = d.NewRQ(rc); err != nil {
		t.Fatal(err)
	}
	s.addQP(depth, inline)
	return s
}

func (s *side) addQP(depth, inline int) {
	s.t.Helper()
	var err error
	if s.qp, err = s.dev.NewQP(verbs.QPConfig{SendCQ: s.cq, RecvCQ: s.cq, RQ: s.rq, Depth: depth, Inline: inline}); err != nil {
		s.t.Fatal(err)
	}
}

// connected makes two sides, on one device or on two, and names them to each other.
func connected(t *testing.T, one bool, rc verbs.RQConfig, depth int) (a, b *side) {
	t.Helper()
	da := openTest(t)
	db := da
	if !one {
		db = openTest(t)
	}
	a, b = newSide(t, da, rc, depth, 128), newSide(t, db, rc, depth, 128)
	if err := a.qp.Connect(db.Addr(), 1, 2); err != nil {
		t.Fatal(err)
	}
	if err := b.qp.Connect(da.Addr(), 2, 1); err != nil {
		t.Fatal(err)
	}
	return a, b
}

const patience = 10 * time.Second

// post posts all of wrs, waiting as a caller would: armed for any event.
func (s *side) post(wrs ...verbs.SendWR) {
	s.t.Helper()
	for len(wrs) > 0 {
		n, err := s.qp.PostSend(wrs)
		wrs = wrs[n:]
		if err == nil {
			continue
		}
		if !errors.Is(err, verbs.ErrFull) {
			s.t.Fatalf("post: took %d: %v", n, err)
		}
		s.sleep(verbs.Any)
	}
}

// sleep takes what is there, and waits for an event when there is nothing.
func (s *side) sleep(e verbs.Event) {
	s.t.Helper()
	if s.take() || s.cq.Arm(e) {
		s.take()
		return
	}
	if !readable(s.dev.WakeFDs(), patience) {
		s.t.Fatal("no event")
	}
	s.cq.Arm(verbs.None)
	s.take()
}

func readable(fds []int, d time.Duration) bool {
	var p []unix.PollFd
	for _, fd := range fds {
		p = append(p, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	for {
		n, err := unix.Poll(p, int(d.Milliseconds()))
		if err != unix.EINTR {
			return n > 0
		}
	}
}

func (s *side) take() (any bool) {
	for s.cq.Poll(s.give[:]) == 1 {
		s.got = append(s.got, s.give[0])
		any = true
	}
	return any
}

// next is the next completion, awaited by sleeping.
func (s *side) next() verbs.Completion {
	s.t.Helper()
	for len(s.got) == 0 {
		s.sleep(verbs.Any)
	}
	c := s.got[0]
	s.got = s.got[1:]
	return c
}

func (s *side) want(op verbs.Op, st verbs.Status) verbs.Completion {
	s.t.Helper()
	c := s.next()
	if c.Op != op || c.Status != st || c.QP != s.qp.Num() {
		s.t.Fatalf("got %v %v of %d, want %v %v of %d", c.Op, c.Status, c.QP, op, st, s.qp.Num())
	}
	return c
}
