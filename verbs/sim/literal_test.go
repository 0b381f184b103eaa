package sim_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// The memory of a send is read when it leaves: who spoils it before the
// completion corrupts the message. Inline memory is copied.
func TestSendReadsMemoryLate(t *testing.T) {
	net, a, b := newPair(t, sim.Config{}, 8, 8)
	mem := a.local([]byte("as posted"))
	a.post(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Signaled, Data: mem})
	copy(mem, "scribbled")
	run(t, net, a, b)
	mem = []byte("as posted")
	a.post(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Signaled | verbs.Inline, Data: mem})
	copy(mem, "scribbled")
	run(t, net, a, b)
	if diff := cmp.Diff([]string{"scribbled", "as posted"}, b.texts()); diff != "" {
		t.Error(diff)
	}
}

// A retry reads it again.
func TestRetryReadsMemoryAgain(t *testing.T) {
	net, a, b := newPair(t, sim.Config{}, 8, 1)
	b.keep = true
	a.send(1, verbs.Signaled, "takes the slot")
	mem := a.local([]byte("as posted"))
	a.post(verbs.SendWR{ID: 2, Op: verbs.OpSend, Flags: verbs.Signaled, Data: mem})
	net.Advance(5 * time.Microsecond)
	copy(mem, "scribbled")
	b.keep = false
	b.poll()
	run(t, net, a, b)
	if diff := cmp.Diff([]string{"takes the slot", "scribbled"}, b.texts()); diff != "" {
		t.Error(diff)
	}
	if rnr := counter(a.dev, "rnr"); rnr == 0 {
		t.Error("rnr was not counted")
	}
}

// Unsignaled requests keep their places until a signaled one that covers them
// is polled.
func TestUnsignaledKeepPlaces(t *testing.T) {
	net, a, b := newPair(t, sim.Config{}, 4, 8)
	for range 3 {
		a.send(0, verbs.Inline, "x")
	}
	a.send(3, verbs.Inline|verbs.Signaled, "x")
	for range 20 {
		net.Step()
	}
	b.poll()
	if len(b.got) != 4 {
		t.Fatalf("%d messages arrived, want 4", len(b.got))
	}
	wr := []verbs.SendWR{{Op: verbs.OpSend}}
	if n, err := a.qp.PostSend(wr); n != 0 || !errors.Is(err, verbs.ErrFull) {
		t.Fatalf("PostSend before the completion is polled: %d, %v; want ErrFull", n, err)
	}
	a.poll()
	for range 4 {
		a.send(0, 0, "y")
	}
	run(t, net, a, b)
	// All four are unsignaled: the queue is full for good.
	if n, err := a.qp.PostSend(wr); n != 0 || !errors.Is(err, verbs.ErrFull) {
		t.Fatalf("PostSend behind unsignaled requests: %d, %v; want ErrFull", n, err)
	}
}

// Without a slot the sender waits for the timer, and gives up at the limit.
func TestNoSlotTimerAndLimit(t *testing.T) {
	cfg := sim.Config{Device: sim.DeviceConfig{RNRTimer: 100 * time.Microsecond, RNRRetries: 3}}
	net, a, b := newPair(t, cfg, 8, 1)
	b.keep = true
	a.send(1, verbs.Signaled, "one")
	a.send(2, verbs.Signaled, "two")
	a.send(3, verbs.Signaled, "three")
	start := net.Now()
	run(t, net, a, b)
	want := map[uint64]verbs.Status{1: verbs.StatusOK, 2: verbs.StatusRetry, 3: verbs.StatusFlushed}
	if diff := cmp.Diff(want, a.statuses()); diff != "" {
		t.Error(diff)
	}
	if a.closed() != verbs.StatusRetry || b.closed() != verbs.StatusRetry {
		t.Errorf("closed: %v and %v, want %v", a.closed(), b.closed(), verbs.StatusRetry)
	}
	if took := net.Now() - start; took < 300*time.Microsecond || took > 350*time.Microsecond {
		t.Errorf("three retries of 100 µs took %v", took)
	}
	if rnr := counter(a.dev, "rnr"); rnr != 4 {
		t.Errorf("rnr is %d, want 4", rnr)
	}
}

func TestInlineGranted(t *testing.T) {
	net := sim.New(sim.Config{})
	n := newNode(t, net, 8, 8)
	for ask, want := range map[int]int{0: 32, 10: 32, 33: 33, 512: 512, 513: 512, 5000: 512} {
		qp, err := n.dev.NewQP(verbs.QPConfig{SendCQ: n.scq, RecvCQ: n.rcq, RQ: n.rq, Inline: ask})
		if err != nil {
			t.Fatal(err)
		}
		if got := qp.Inline(); got != want {
			t.Errorf("asked for %d inline, granted %d, want %d", ask, got, want)
		}
	}
}

// A registration that is closed during a read stops it where it is. Both ends
// are in error afterwards.
func TestReadStopsAtClose(t *testing.T) {
	cfg := sim.Config{
		Link:   sim.Link{Delay: time.Microsecond, Bandwidth: 1e9},
		Device: sim.DeviceConfig{ReadChunk: 1000},
	}
	net, a, b := newPair(t, cfg, 8, 8)
	mem := bytes.Repeat([]byte{7}, 10_000)
	mr, err := b.dev.Register(mem, verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	local := a.local(make([]byte, len(mem)))
	a.post(verbs.SendWR{ID: 1, Op: verbs.OpRead, Flags: verbs.Signaled, Data: local, Remote: verbs.Remote{Addr: mr.Addr(), Key: mr.Key()}})
	for bytes.Count(local, []byte{7}) < 4000 {
		net.Step()
	}
	if err := mr.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range mem {
		mem[i] = 9
	}
	run(t, net, a, b)
	if diff := cmp.Diff(map[uint64]verbs.Status{1: verbs.StatusRemoteAccess}, a.statuses()); diff != "" {
		t.Error(diff)
	}
	if n := bytes.Count(local, []byte{9}); n != 0 {
		t.Errorf("%d bytes were read after Close", n)
	}
	if n := bytes.Count(local, []byte{7}); n < 4000 || n == len(mem) {
		t.Errorf("%d bytes arrived", n)
	}
	if a.closed() != verbs.StatusRemoteAccess || b.closed() != verbs.StatusRemoteAccess {
		t.Errorf("closed: %v and %v, want %v", a.closed(), b.closed(), verbs.StatusRemoteAccess)
	}
}

// Local memory must be registered, for reads with the right to write it.
func TestLocalMemoryRegistered(t *testing.T) {
	net, a, b := newPair(t, sim.Config{}, 8, 8)
	mem := make([]byte, 100)
	send := []verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Signaled, Hdr: []byte("header"), Data: mem}}
	read := []verbs.SendWR{{Op: verbs.OpRead, Flags: verbs.Signaled, Data: mem}}
	refused := func(wr []verbs.SendWR, what string) {
		t.Helper()
		if n, err := a.qp.PostSend(wr); n != 0 || !errors.Is(err, verbs.ErrInvalid) {
			t.Fatalf("PostSend of %s: %d, %v; want ErrInvalid", what, n, err)
		}
	}
	register := func(mem []byte, access verbs.Access) verbs.MR {
		t.Helper()
		mr, err := a.dev.Register(mem, access)
		if err != nil {
			t.Fatal(err)
		}
		return mr
	}
	refused(send, "unregistered memory")
	register(mem[:50], verbs.AccessLocal)
	refused(send, "memory registered in part")
	mr := register(mem, verbs.AccessRead)
	refused(read, "a read into memory without AccessLocal")
	a.post(send...)
	run(t, net, a, b)
	if len(b.texts()) != 1 {
		t.Error("the message didn't arrive")
	}
	if err := mr.Close(); err != nil {
		t.Fatal(err)
	}
	refused(send, "memory that was registered")
}

func TestCQOverrun(t *testing.T) {
	net := sim.New(sim.Config{})
	a, b := newNode(t, net, 32, 32), newNode(t, net, 32, 32)
	scq, err := a.dev.NewCQ(4)
	if err != nil {
		t.Fatal(err)
	}
	a.qp, err = a.dev.NewQP(verbs.QPConfig{SendCQ: scq, RecvCQ: a.rcq, RQ: a.rq, Depth: 32})
	if err != nil {
		t.Fatal(err)
	}
	join(t, a, b, a.qp, b.qp, 1)
	for i := range uint64(8) {
		a.send(i, verbs.Signaled, "x")
	}
	for net.Step() {
	}
	a.poll()
	if a.closed() != verbs.StatusFlushed || counter(a.dev, "cq_overruns") != 1 {
		t.Errorf("after an overrun: closed %v, counted %d", a.closed(), counter(a.dev, "cq_overruns"))
	}
}

func TestRepostTwicePanics(t *testing.T) {
	net := sim.New(sim.Config{})
	n := newNode(t, net, 8, 8)
	defer func() {
		if recover() == nil {
			t.Error("repost of a posted slot didn't panic")
		}
	}()
	n.rq.Repost([]verbs.Slot{3})
}
