package sim_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// A silent peer is found out by the retry limit, and only by who sends.
func TestSilent(t *testing.T) {
	cfg := sim.Config{Device: sim.DeviceConfig{RetryTimer: time.Millisecond, Retries: 4}}
	net, a, b := newPair(t, cfg, 8, 8)
	net.Silence(b.dev, true)
	net.Advance(time.Second)
	a.poll()
	if a.closed() != verbs.StatusOK {
		t.Fatalf("closed %v with nothing posted", a.closed())
	}
	start := net.Now()
	a.send(1, 0, "one")
	a.send(2, verbs.Signaled, "two")
	run(t, net, a, b)
	want := map[uint64]verbs.Status{1: verbs.StatusRetry, 2: verbs.StatusFlushed}
	if diff := cmp.Diff(want, a.statuses()); diff != "" {
		t.Error(diff)
	}
	if a.closed() != verbs.StatusRetry {
		t.Errorf("closed: %v, want %v", a.closed(), verbs.StatusRetry)
	}
	if took := net.Now() - start; took < 5*time.Millisecond || took > 6*time.Millisecond {
		t.Errorf("four retries of 1 ms took %v", took)
	}
}

// A peer that comes back within the limit has missed nothing.
func TestSilentForAWhile(t *testing.T) {
	net, a, b := newPair(t, sim.Config{}, 8, 8)
	net.Silence(b.dev, true)
	a.send(1, verbs.Signaled, "one")
	a.send(2, verbs.Signaled, "two")
	net.At(net.Now()+time.Millisecond, func() { net.Silence(b.dev, false) })
	run(t, net, a, b)
	if diff := cmp.Diff([]string{"one", "two"}, b.texts()); diff != "" {
		t.Error(diff)
	}
	if counter(a.dev, "retries") == 0 {
		t.Error("retries were not counted")
	}
}

// The death of a process is known as soon as the news has travelled; what had
// left before arrives.
func TestKill(t *testing.T) {
	net, a, b := newPair(t, sim.Config{Link: sim.Link{Delay: 10 * time.Microsecond}}, 8, 8)
	b.send(1, verbs.Signaled, "last words")
	net.Step() // the doorbell
	net.Step() // the departure
	a.send(2, verbs.Signaled, "in vain")
	start := net.Now()
	net.Kill(b.dev)
	run(t, net, a)
	if diff := cmp.Diff([]string{"last words"}, a.texts()); diff != "" {
		t.Error(diff)
	}
	if a.closed() != verbs.StatusPeerDead {
		t.Errorf("closed: %v, want %v", a.closed(), verbs.StatusPeerDead)
	}
	if diff := cmp.Diff(map[uint64]verbs.Status{2: verbs.StatusFlushed}, a.statuses()); diff != "" {
		t.Error(diff)
	}
	if took := net.Now() - start; took > 20*time.Microsecond {
		t.Errorf("the news took %v", took)
	}
	if _, err := b.qp.PostSend(nil); err == nil {
		t.Error("a dead device takes requests")
	}
}

// The n-th request fails, those before it succeed, those behind it flush.
func TestFailRequest(t *testing.T) {
	net, a, b := newPair(t, sim.Config{}, 8, 8)
	a.dev.FailRequest(a.qp.Num(), 3, verbs.StatusCorrupt)
	for i := range uint64(5) {
		a.send(i+1, verbs.Signaled, "x")
	}
	run(t, net, a, b)
	want := map[uint64]verbs.Status{
		1: verbs.StatusOK, 2: verbs.StatusOK, 3: verbs.StatusCorrupt, 4: verbs.StatusFlushed, 5: verbs.StatusFlushed,
	}
	if diff := cmp.Diff(want, a.statuses()); diff != "" {
		t.Error(diff)
	}
	if len(b.texts()) != 2 || b.closed() != verbs.StatusCorrupt {
		t.Errorf("%d messages arrived, closed %v", len(b.texts()), b.closed())
	}
}

// Nobody connects the label, or nobody answers: refused.
func TestConnectLimits(t *testing.T) {
	for _, silent := range []bool{false, true} {
		net := sim.New(sim.Config{Device: sim.DeviceConfig{ConnectTimer: time.Millisecond, ConnectRetries: 10}})
		a, b := newNode(t, net, 8, 8), newNode(t, net, 8, 8)
		net.Silence(b.dev, silent)
		if err := a.qp.Connect(b.dev.Addr(), 1, 1); err != nil {
			t.Fatal(err)
		}
		a.send(1, 0, "x")
		run(t, net, a, b)
		if a.closed() != verbs.StatusRefused || net.Now() != 10*time.Millisecond {
			t.Errorf("silent %v: closed %v after %v, want %v after 10 ms", silent, a.closed(), net.Now(), verbs.StatusRefused)
		}
		if diff := cmp.Diff(map[uint64]verbs.Status{1: verbs.StatusFlushed}, a.statuses()); diff != "" {
			t.Error(diff)
		}
	}
}
