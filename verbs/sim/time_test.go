package sim_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// Messages take the link's delay, and the wire's time for their bytes.
func TestDelayAndBandwidth(t *testing.T) {
	net, a, b := newPair(t, sim.Config{Link: sim.Link{Delay: 5 * time.Microsecond, Bandwidth: 1e9}}, 8, 8)
	mem := a.local(make([]byte, 952)) // 1000 with the header
	start := net.Now()
	for range 3 {
		a.post(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Signaled, Data: mem})
	}
	var at []time.Duration
	for len(at) < 3 && net.Step() {
		if b.poll(); len(b.got) > len(at) {
			at = append(at, net.Now()-start)
		}
	}
	want := []time.Duration{6 * time.Microsecond, 7 * time.Microsecond, 8 * time.Microsecond}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Error(diff)
	}
	net.SetLink(a.dev, b.dev, sim.Link{Delay: time.Second})
	a.poll()
	start = net.Now()
	a.send(9, verbs.Signaled, "slow")
	run(t, net, a, b)
	if took := net.Now() - start; took < time.Second {
		t.Errorf("a message over a link of 1 s and its answer took %v", took)
	}
}

// Two queue pairs take turns on a wire.
func TestFairWire(t *testing.T) {
	net, a, b := newPair(t, sim.Config{Link: sim.Link{Bandwidth: 1e9}}, 64, 128)
	other, back := a.newQP(64), b.newQP(64)
	join(t, a, b, other, back, 2)
	mem := a.local(make([]byte, 1000))
	for _, qp := range []verbs.QP{a.qp, other} {
		for range 20 {
			if _, err := qp.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Data: mem}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(t, net, a, b)
	var turns []uint32
	for _, c := range b.got {
		turns = append(turns, c.QP)
	}
	if len(turns) != 40 {
		t.Fatalf("%d messages arrived, want 40", len(turns))
	}
	for i := 2; i < len(turns); i++ {
		if turns[i] == turns[i-1] {
			t.Fatalf("the queue pairs don't take turns: %v", turns)
		}
	}
}

// Registration makes the device's owner busy: what is posted leaves later.
func TestRegistrationTakesTime(t *testing.T) {
	cfg := sim.Config{
		Link:   sim.Link{Delay: time.Microsecond},
		Device: sim.DeviceConfig{RegisterCall: 10 * time.Microsecond, RegisterPage: time.Microsecond},
	}
	net, a, b := newPair(t, cfg, 8, 8)
	start := net.Now()
	for range 2 {
		if _, err := a.dev.Register(make([]byte, 5*4096-1), verbs.AccessLocal); err != nil {
			t.Fatal(err)
		}
	}
	if busy := a.dev.Busy() - start; busy != 30*time.Microsecond {
		t.Errorf("two registrations of five pages take %v, want 30 µs", busy)
	}
	a.send(1, verbs.Signaled, "late")
	b.send(2, verbs.Signaled, "early")
	for len(b.got) == 0 && net.Step() {
		a.poll()
		b.poll()
	}
	if took := net.Now() - start; took != 31*time.Microsecond {
		t.Errorf("a message behind the registrations arrived after %v, want 31 µs", took)
	}
	if len(a.got) != 1 {
		t.Error("the other device waited, too")
	}
}

// Advance moves the clock by just so much.
func TestAdvance(t *testing.T) {
	net := sim.New(sim.Config{})
	var log []time.Duration
	for _, at := range []time.Duration{30, 10, 20, 40} {
		net.At(at, func() { log = append(log, net.Now()) })
	}
	net.Advance(25)
	if now := net.Now(); now != 25 || !slices.Equal(log, []time.Duration{10, 20}) {
		t.Errorf("after 25: now %v, called at %v", now, log)
	}
	if at, ok := net.Next(); !ok || at != 30 {
		t.Errorf("Next: %v, %v; want 30", at, ok)
	}
	for net.Step() {
	}
	if _, ok := net.Next(); ok || net.Now() != 40 {
		t.Errorf("at the end: now %v", net.Now())
	}
}

// trace runs a scenario with losses, reads, waits for slots and a death, and
// returns all that happened.
func trace(t *testing.T, seed uint64) (lines []string) {
	t.Helper()
	cfg := sim.Config{
		Seed:  seed,
		Link:  sim.Link{Delay: 2 * time.Microsecond, Jitter: 5 * time.Microsecond, Bandwidth: 1e9, Loss: 0.05},
		Trace: func(e sim.Entry) { lines = append(lines, e.String()) },
	}
	net, a, b := newPair(t, cfg, 16, 4)
	mem := make([]byte, 100_000)
	mr, err := b.dev.Register(mem, verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	local := a.local(make([]byte, 50_000))
	for i := range uint64(200) {
		wr := []verbs.SendWR{{ID: i, Op: verbs.OpSend, Flags: verbs.Signaled, Data: local[:i]}}
		if i%10 == 0 {
			wr[0] = verbs.SendWR{ID: i, Op: verbs.OpRead, Flags: verbs.Signaled, Data: local, Remote: verbs.Remote{Addr: mr.Addr(), Key: mr.Key()}}
		}
		for p, tries := 0, 0; p == 0; tries++ {
			if p, err = a.qp.PostSend(wr); err != nil && tries > 10_000 {
				t.Fatal(err)
			}
			net.Step()
			a.poll()
			if i%3 == 0 {
				b.poll()
			}
		}
	}
	net.Kill(b.dev)
	run(t, net, a)
	runtime.KeepAlive(mem) // which b's device doesn't
	for _, c := range a.done {
		lines = append(lines, fmt.Sprint(c.ID, c.Op, c.Status))
	}
	return append(lines, fmt.Sprint(a.closed(), net.Now()))
}

// The same seed gives the same trace, another seed another.
func TestSameSeedSameTrace(t *testing.T) {
	one, two, other := trace(t, 1), trace(t, 1), trace(t, 2)
	if diff := cmp.Diff(one, two); diff != "" {
		t.Errorf("two runs with one seed differ:\n%s", diff)
	}
	if slices.Equal(one, other) {
		t.Error("another seed makes no difference")
	}
	if len(one) < 1000 {
		t.Errorf("the trace has %d lines only", len(one))
	}
}
