package sim_test

import (
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// node is a device with one queue pair.
type node struct {
	t    *testing.T
	net  *sim.Network
	dev  *sim.Device
	scq  verbs.CQ
	rcq  verbs.CQ
	rq   verbs.RQ
	qp   verbs.QP
	done []verbs.Completion // of the send queue
	got  []verbs.Completion // of the receive queue; Data is a copy
	keep bool               // received slots stay taken
}

func newNode(t *testing.T, net *sim.Network, depth, slots int, cfg ...sim.DeviceConfig) *node {
	t.Helper()
	n := &node{t: t, net: net, dev: net.NewDevice(cfg...)}
	var err error
	if n.scq, err = n.dev.NewCQ(4 * depth); err != nil {
		t.Fatal(err)
	}
	if n.rcq, err = n.dev.NewCQ(4 * depth); err != nil {
		t.Fatal(err)
	}
	if n.rq, err = n.dev.NewRQ(verbs.RQConfig{Slots: slots, SlotSize: 4096, Shared: true}); err != nil {
		t.Fatal(err)
	}
	n.qp = n.newQP(depth)
	return n
}

func (n *node) newQP(depth int) verbs.QP {
	n.t.Helper()
	qp, err := n.dev.NewQP(verbs.QPConfig{SendCQ: n.scq, RecvCQ: n.rcq, RQ: n.rq, Depth: depth})
	if err != nil {
		n.t.Fatal(err)
	}
	return qp
}

// newPair makes two connected nodes.
func newPair(t *testing.T, cfg sim.Config, depth, slots int) (net *sim.Network, a, b *node) {
	t.Helper()
	net = sim.New(cfg)
	a, b = newNode(t, net, depth, slots), newNode(t, net, depth, slots)
	join(t, a, b, a.qp, b.qp, 1)
	return net, a, b
}

func join(t *testing.T, a, b *node, x, y verbs.QP, label uint32) {
	t.Helper()
	for _, err := range []error{x.Connect(b.dev.Addr(), label, label), y.Connect(a.dev.Addr(), label, label)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.PostSend(nil); err != nil {
		t.Fatal(err)
	}
	a.net.Advance(100 * time.Microsecond)
}

// post posts and insists.
func (n *node) post(wrs ...verbs.SendWR) {
	n.t.Helper()
	if done, err := n.qp.PostSend(wrs); err != nil {
		n.t.Fatalf("PostSend: %d of %d, %v", done, len(wrs), err)
	}
}

// local registers memory for the node's own requests, and waits until that is
// done.
func (n *node) local(mem []byte) []byte {
	n.t.Helper()
	if _, err := n.dev.Register(mem, verbs.AccessLocal); err != nil {
		n.t.Fatal(err)
	}
	n.net.Advance(n.dev.Busy() - n.net.Now())
	return mem
}

// send posts a message of a few bytes.
func (n *node) send(id uint64, flags verbs.Flags, msg string) {
	n.t.Helper()
	n.post(verbs.SendWR{ID: id, Op: verbs.OpSend, Flags: flags, Hdr: []byte(msg)})
}

// poll files everything there is.
func (n *node) poll() {
	c := make([]verbs.Completion, 64)
	n.done = append(n.done, c[:n.scq.Poll(c)]...)
	for _, r := range c[:n.rcq.Poll(c)] {
		r.Data = append([]byte(nil), r.Data...)
		n.got = append(n.got, r)
		if r.Slot != verbs.NoSlot && !n.keep {
			n.rq.Repost([]verbs.Slot{r.Slot})
		}
	}
}

// run runs the network dry, polling the nodes, within a limit of events.
func run(t *testing.T, net *sim.Network, nodes ...*node) {
	t.Helper()
	for range 100_000 {
		more := net.Step()
		for _, n := range nodes {
			n.poll()
		}
		if !more {
			return
		}
	}
	t.Fatal("the network doesn't come to rest")
}

// statuses are the IDs and statuses of send completions.
func (n *node) statuses() map[uint64]verbs.Status {
	m := make(map[uint64]verbs.Status)
	for _, c := range n.done {
		m[c.ID] = c.Status
	}
	return m
}

// texts are the messages received.
func (n *node) texts() (s []string) {
	for _, c := range n.got {
		if c.Op == verbs.OpRecv {
			s = append(s, string(c.Data))
		}
	}
	return s
}

// closed is the status of OpClosed, or StatusOK where it has not come.
func (n *node) closed() verbs.Status {
	for _, c := range n.got {
		if c.Op == verbs.OpClosed {
			return c.Status
		}
	}
	return verbs.StatusOK
}

func counter(d *sim.Device, name string) (v uint64) {
	d.Counters(func(n string, x uint64) bool {
		if n == name {
			v = x
		}
		return n != name
	})
	return v
}
