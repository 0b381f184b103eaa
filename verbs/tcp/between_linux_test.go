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
	join(t, nodes[0], nodes[1])
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
