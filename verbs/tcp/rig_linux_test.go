package tcp

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs"
)

// job is the secret of the tests' devices.
var job = secret.New()

// node is a device with its queues, and one queue pair.
type node struct {
	dev      *Device
	scq, rcq verbs.CQ
	rq       verbs.RQ
	qp       *qp
	out      []verbs.Completion
	wr       [1]verbs.SendWR
	slots    []verbs.Slot
}

func newNode(t testing.TB, c Config, tune tuning) *node {
	t.Helper()
	c.Secret, c.Net = job, "lo"
	d, err := open(c, tune)
	if err != nil {
		t.Fatal(err)
	}
	return newNodeOn(t, d)
}

// newNodeOn makes the queues of a device.
func newNodeOn(t testing.TB, d *Device) *node {
	t.Helper()
	var err error
	t.Cleanup(func() { _ = d.Close() })
	n := &node{dev: d, out: make([]verbs.Completion, 16)}
	if n.scq, err = d.NewCQ(1024); err == nil {
		n.rcq, err = d.NewCQ(1024)
	}
	if err == nil {
		n.rq, err = d.NewRQ(verbs.RQConfig{Shared: true, Slots: 64, SlotSize: 64 << 10})
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// pair makes the node's queue pair.
func (n *node) pair(t testing.TB, to *node, local, remote uint32) {
	t.Helper()
	q, err := n.dev.NewQP(verbs.QPConfig{SendCQ: n.scq, RecvCQ: n.rcq, RQ: n.rq, Depth: 128})
	if err == nil {
		err = q.Connect(to.dev.Addr(), local, remote)
	}
	if err != nil {
		t.Fatal(err)
	}
	n.qp = q.(*qp)
}

// newDuo makes two nodes that are connected.
func newDuo(t testing.TB, tune tuning) (x, y *node) {
	t.Helper()
	return newDuoOf(t, Config{}, tune)
}

func newDuoOf(t testing.TB, c Config, tune tuning) (x, y *node) {
	t.Helper()
	x, y = newNode(t, c, tune), newNode(t, c, tune)
	join(t, x, y)
	return x, y
}

// join connects two nodes.
func join(t testing.TB, x, y *node) {
	t.Helper()
	joinAs(t, x, y, 1, 2)
}

// joinAs connects two nodes, which may have other peers, under these labels. Their
// queue pairs are node.qp then.
func joinAs(t testing.TB, x, y *node, xs, ys uint32) {
	t.Helper()
	x.pair(t, y, xs, ys)
	y.pair(t, x, ys, xs)
	_, _ = x.qp.PostSend(nil)
	within(t, "the connection", func() bool {
		x.poll()
		y.poll()
		return x.qp.state == qpReady && y.qp.state == qpReady
	})
}

// within waits for what should come at once.
func within(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !done(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("nothing within %v: %s", limit, what)
		}
	}
}

// poll polls both queues once, and returns what came.
func (n *node) poll() []verbs.Completion {
	k := n.scq.Poll(n.out)
	k += n.rcq.Poll(n.out[k:])
	return n.out[:k]
}

func (n *node) send(t testing.TB, p []byte) {
	t.Helper()
	n.wr[0] = verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Inline, Data: p}
	for {
		k, err := n.qp.PostSend(n.wr[:])
		if k == 1 {
			return
		}
		if !errors.Is(err, verbs.ErrFull) {
			t.Fatal(err)
		}
		n.scq.Poll(n.out)
	}
}

// receive polls until so many messages have come.
func (n *node) receive(t testing.TB, messages int) {
	t.Helper()
	for messages > 0 {
		n.slots = n.slots[:0]
		for _, c := range n.out[:n.rcq.Poll(n.out)] {
			if c.Op != verbs.OpRecv {
				t.Fatalf("%v: %v", c.Op, c.Status)
			}
			if c.Slot != verbs.NoSlot {
				n.slots = append(n.slots, c.Slot)
			}
			messages--
		}
		if len(n.slots) > 0 {
			n.rq.Repost(n.slots)
		}
	}
}
