package tcp

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/testbed"
	"github.com/verbena-mpi/verbena/verbs"
)

// newNodesOn makes a node on each of two virtual hosts, and connects them.
func newNodesOn(t *testing.T, b *testbed.Bed, c Config) (x, y *node) {
	t.Helper()
	x, y = nodesOn(t, b, c)
	join(t, x, y)
	return x, y
}

// nodesOn makes a node on each of two virtual hosts.
func nodesOn(t *testing.T, b *testbed.Bed, c Config) (x, y *node) {
	t.Helper()
	var nodes [2]*node
	for host := range nodes {
		tune := normal
		tune.in = func(dial func()) { b.In(host, dial) }
		c.Secret = job
		var d *Device
		var err error
		b.In(host, func() { d, err = open(c, tune) })
		if err != nil {
			t.Fatal(err)
		}
		d.contacts.host = hostID{1, byte(host)} // in one process all seem to be on one host
		nodes[host] = newNodeOn(t, d)
	}
	return nodes[0], nodes[1]
}

// Large reads between hosts with two cables go over both.
func TestRailsBetweenHosts(t *testing.T) {
	b := testbed.New(t, 2, testbed.Rails(2))
	x, y := newNodesOn(t, b, Config{})
	mem := bytes.Repeat([]byte("0123456789"), 1<<20)
	mr, err := y.dev.Register(mem, verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, len(mem))
	within(t, "parts over the second cable", func() bool {
		clear(data)
		if st := x.readInto(t, y, data, verbs.Remote{Addr: mr.Addr(), Key: mr.Key()}); st != verbs.StatusOK || !bytes.Equal(data, mem) {
			t.Fatalf("the read: %v, whole %v", st, bytes.Equal(data, mem))
		}
		return y.counter("served.rails") > 0
	})
}

// A peer that takes nothing is slow. When its cable is cut it counts as dead, in about the
// set time.
func TestSlowPeerThatIsCut(t *testing.T) {
	b := testbed.New(t, 2)
	const limit = time.Second
	x, _ := newNodesOn(t, b, Config{Timeout: limit})
	wr := []verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: make([]byte, 32<<10)}}
	ended := verbs.StatusOK
	push := func() bool {
		n, err := x.qp.PostSend(wr)
		if err != nil && !errors.Is(err, verbs.ErrFull) && !errors.Is(err, verbs.ErrState) {
			t.Fatal(err)
		}
		for _, c := range x.poll() {
			if c.Op == verbs.OpClosed {
				ended = c.Status
			}
		}
		return n == 0
	}
	within(t, "a full socket", push)
	for start := time.Now(); time.Since(start) < 4*limit; time.Sleep(time.Millisecond) {
		if push(); ended != verbs.StatusOK {
			t.Fatalf("%v after %v: it is slow", ended, time.Since(start))
		}
	}
	b.Cut(1)
	start := time.Now()
	within(t, "the end of a peer that is cut off", func() bool {
		push()
		time.Sleep(time.Millisecond)
		return ended != verbs.StatusOK
	})
	took := time.Since(start)
	t.Logf("%v after %v", ended, took)
	if ended != verbs.StatusRetry && ended != verbs.StatusPeerDead || took < limit/2 || took > 10*limit {
		t.Errorf("%v after %v", ended, took)
	}
}

// Both hosts connect at the same time, over a network that loses packets, is cut for a while, or
// ends connections: all messages arrive, once and in order, or both queue pairs end with an
// error within the limits.
func TestConnectsOverBadNetwork(t *testing.T) {
	b := testbed.New(t, 2)
	for _, fault := range []struct {
		name        string
		begin, next func()
		after       int // turns, to what is next
	}{
		{"loss", func() { b.Loss(1, 25) }, nil, 1 << 30},
		{"much loss", func() { b.Loss(1, 60) }, func() { b.Loss(1, 10) }, 200},
		{"cut", func() { b.Cut(1) }, func() { b.Heal(1) }, 100},
		{"cut for ever", func() { b.Cut(1) }, nil, 1 << 30},
		{"cut in the middle", func() {}, func() { b.Cut(1) }, 1},
		{"reset", func() { b.Reset(0, 1) }, func() { b.Heal(1) }, 1},
	} {
		t.Run(fault.name, func(t *testing.T) {
			for round := range 3 {
				x, y := nodesOn(t, b, Config{Timeout: time.Second})
				x.pair(t, y, 1, 2)
				y.pair(t, x, 2, 1)
				fault.begin()
				var sent, got [2]byte
				var ended [2]verbs.Status
				start := time.Now()
				const messages = 250
				for turn := 0; got != [2]byte{messages, messages} && (ended[0] == 0 || ended[1] == 0); turn++ {
					if turn == fault.after+4*round {
						fault.next()
					}
					for i, n := range []*node{x, y} {
						for sent[i] < messages && ended[i] == 0 && turn >= round*i*10 {
							k, err := n.qp.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: []byte{sent[i]}}})
							if err != nil && !errors.Is(err, verbs.ErrFull) && !errors.Is(err, verbs.ErrState) {
								t.Fatal(err)
							}
							if k == 0 {
								break
							}
							sent[i]++
						}
						for _, c := range n.poll() {
							switch {
							case c.Op == verbs.OpClosed:
								ended[i] = c.Status
							case c.Op == verbs.OpRecv && c.Data[0] == got[i]:
								got[i]++
							case c.Op == verbs.OpRecv:
								t.Fatalf("side %d gets message %d after %d", i, c.Data[0], got[i])
							}
						}
					}
					if time.Since(start) > 30*time.Second {
						t.Fatalf("round %d: after %v: sent %v, got %v, ended %v, states %d and %d", round, time.Since(start), sent, got, ended, x.qp.state, y.qp.state)
					}
					time.Sleep(time.Millisecond)
				}
				t.Logf("round %d: %v: got %v, ended %v", round, time.Since(start), got, ended)
				_, _ = x.dev.Close(), y.dev.Close()
				b.Heal(1)
			}
		})
	}
}
