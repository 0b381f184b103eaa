//go:build linux

package shm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// node is a device with its queues, and what has come out of them.
type node struct {
	t        testing.TB
	d        *Device
	scq, rcq verbs.CQ
	rq       verbs.RQ // the shared one, or nil
	rqConfig verbs.RQConfig
	queues   []verbs.RQ

	got   []received
	ends  []end
	reads map[uint64]verbs.Status
	hold  bool // slots are kept
	held  []lent
	lows  int
}

type received struct {
	qp   uint32
	data string
}

type end struct {
	qp     uint32
	status verbs.Status
}

type lent struct {
	rq   verbs.RQ
	slot verbs.Slot
}

// few is a receive queue that runs out soon.
var few = verbs.RQConfig{Shared: true, Slots: 8, SlotSize: 256}

func newNode(t testing.TB, c Config, rc verbs.RQConfig) *node {
	t.Helper()
	if c.MaxPeers == 0 {
		c.MaxPeers = 8
	}
	if c.Memory == 0 {
		c.Memory = 16 << 20
	}
	if c.AllocMemory == 0 {
		c.AllocMemory = 16 << 20
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 5 * time.Second
	}
	d, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, d: d, rqConfig: rc, reads: map[uint64]verbs.Status{}}
	t.Cleanup(func() {
		if err := d.Close(); err != nil && !errors.Is(err, verbs.ErrClosed) {
			t.Error(err)
		}
	})
	if n.scq, err = d.NewCQ(1024); err != nil {
		t.Fatal(err)
	}
	if n.rcq, err = d.NewCQ(1024); err != nil {
		t.Fatal(err)
	}
	if rc.Shared {
		n.rq = n.newRQ()
	}
	return n
}

func (n *node) newRQ() verbs.RQ {
	n.t.Helper()
	q, err := n.d.NewRQ(n.rqConfig)
	if err != nil {
		n.t.Fatal(err)
	}
	n.queues = append(n.queues, q)
	return q
}

func (n *node) newQP() *qp {
	n.t.Helper()
	queue := n.rq
	if queue == nil {
		queue = n.newRQ()
	}
	q, err := n.d.NewQP(verbs.QPConfig{SendCQ: n.scq, RecvCQ: n.rcq, RQ: queue, Depth: 256})
	if err != nil {
		n.t.Fatal(err)
	}
	return q.(*qp)
}

var lastLabel atomic.Uint32

// join connects two nodes: their queue pairs stand when it returns.
func join(a, b *node) (qa, qb *qp) {
	a.t.Helper()
	qa, qb = a.newQP(), b.newQP()
	la, lb := lastLabel.Add(1), lastLabel.Add(1)
	if err := qa.Connect(b.d.Addr(), la, lb); err != nil {
		a.t.Fatal(err)
	}
	if err := qb.Connect(a.d.Addr(), lb, la); err != nil {
		a.t.Fatal(err)
	}
	if _, err := qa.PostSend(nil); err != nil {
		a.t.Fatal(err)
	}
	until(a.t, "the connection", func() bool { return qa.state == qpReady && qb.state == qpReady }, a, b)
	return qa, qb
}

// poll takes what there is.
func (n *node) poll() {
	for _, cq := range []verbs.CQ{n.rcq, n.scq} {
		var c [32]verbs.Completion
		for i := range cq.Poll(c[:]) {
			n.file(&c[i])
		}
	}
}

func (n *node) file(c *verbs.Completion) {
	switch c.Op {
	case verbs.OpRecv:
		n.got = append(n.got, received{c.QP, string(c.Data)})
		if c.Slot == verbs.NoSlot {
			return
		}
		l := lent{n.queueOf(c.QP), c.Slot}
		if n.hold {
			n.held = append(n.held, l)
		} else {
			l.rq.Repost([]verbs.Slot{l.slot})
		}
	case verbs.OpClosed:
		n.ends = append(n.ends, end{c.QP, c.Status})
	case verbs.OpRead:
		n.reads[c.ID] = c.Status
	case verbs.OpLow:
		n.lows++
	}
}

func (n *node) queueOf(num uint32) verbs.RQ {
	for _, q := range n.d.qps {
		if q.num == num {
			return q.rq
		}
	}
	n.t.Fatalf("no queue pair %d", num)
	return nil
}

func (n *node) release() {
	for _, l := range n.held {
		l.rq.Repost([]verbs.Slot{l.slot})
	}
	n.held = nil
}

const limit = 20 * time.Second

// until polls the nodes until cond holds.
func until(t testing.TB, what string, cond func() bool, nodes ...*node) {
	t.Helper()
	end := time.Now().Add(limit)
	for i := 0; !cond(); i++ {
		for _, n := range nodes {
			n.poll()
		}
		if i%64 != 63 {
			runtime.Gosched()
			continue
		}
		time.Sleep(50 * time.Microsecond) // the runtime looks at its poller when somebody is idle
		if time.Now().After(end) {
			for i, n := range nodes {
				t.Logf("node %d: %d messages, ends %v, reads %v, rnr %d", i, len(n.got), n.ends, n.reads, n.d.count.rnr)
			}
			t.Fatalf("still waiting for %s", what)
		}
	}
}

// post sends one message; false: there was no room.
func (q *qp) post(t testing.TB, data []byte, f verbs.Flags) bool {
	t.Helper()
	n, err := q.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Flags: f | verbs.Inline, Data: data}})
	if err != nil && !errors.Is(err, verbs.ErrFull) {
		t.Fatal(err)
	}
	return n == 1
}

// message is n bytes, at least 4, that say which message they are.
func message(i, n int) []byte {
	b := make([]byte, max(n, 4))
	for k := range b {
		b[k] = byte(i + k*3)
	}
	binary.LittleEndian.PutUint32(b, uint32(i))
	return b
}

// checkMessages checks that what came from a queue pair are the first count
// messages of size n.
func (n *node) checkMessages(from uint32, count, size int) {
	n.t.Helper()
	i := 0
	for _, m := range n.got {
		if m.qp != from {
			continue
		}
		if m.data != string(message(i, size)) {
			n.t.Fatalf("message %d of %d bytes: got %d bytes that begin % x", i, size, len(m.data), m.data[:min(len(m.data), 8)])
		}
		i++
	}
	if i != count {
		n.t.Errorf("%d messages came, want %d", i, count)
	}
}

// allPosted checks that all slots are free, by the owner's count and by the
// words that senders look at.
func (n *node) allPosted() {
	n.t.Helper()
	for _, v := range n.queues {
		q := v.(*rq)
		if q.Posted() != n.rqConfig.Slots {
			n.t.Errorf("%d of %d slots are posted", q.Posted(), n.rqConfig.Slots)
		}
		for i := range q.s.owners {
			if w := q.s.owners[i].Load(); w != slotFree {
				n.t.Errorf("slot %d has the owner %#x", i, w)
			}
		}
	}
}

// talk sends messages of both kinds both ways between two nodes, and checks them:
// they are not disturbed.
func talk(a, b *node, qa, qb *qp) {
	a.t.Helper()
	for i, size := range []int{8, 200, 112, 113, 256} {
		na, nb := len(a.from(qa)), len(b.from(qb))
		until(a.t, "room", func() bool { return qa.post(a.t, message(i, size), 0) }, a, b)
		until(a.t, "room", func() bool { return qb.post(a.t, message(i+100, size), 0) }, a, b)
		until(a.t, "the talk", func() bool { return len(a.from(qa)) > na && len(b.from(qb)) > nb }, a, b)
		if got := b.from(qb)[nb]; got != string(message(i, size)) {
			a.t.Errorf("%d bytes: wrong content", size)
		}
		if got := a.from(qa)[na]; got != string(message(i+100, size)) {
			a.t.Errorf("%d bytes back: wrong content", size)
		}
	}
}

func (n *node) from(q *qp) (list []string) {
	for _, m := range n.got {
		if m.qp == q.num {
			list = append(list, m.data)
		}
	}
	return list
}

// rung says whether the device's wake descriptor is readable.
func (n *node) rung() bool {
	p := []unix.PollFd{{Fd: int32(n.d.bell.fd), Events: unix.POLLIN}}
	got, err := unix.Poll(p, 0)
	return err == nil && got == 1
}

// arm arms both queues, polling while there is something.
func (n *node) arm(send, recv verbs.Event) {
	n.t.Helper()
	until(n.t, "an arming without a missed event", func() bool {
		again := n.scq.Arm(send)
		return !(n.rcq.Arm(recv) || again)
	}, n)
}

// newRead registers n bytes at the owner and posts a read of them.
func newRead(owner, reader *node, q *qp, n int, id uint64) (src, dst []byte, m verbs.MR) {
	owner.t.Helper()
	src = bytes.Repeat([]byte(fmt.Sprintf("%02d", id%100)), n/2+1)[:n]
	dst = make([]byte, n)
	m, err := owner.d.Register(src, verbs.AccessRead)
	if err != nil {
		owner.t.Fatal(err)
	}
	reader.read(q, dst, m, id)
	return src, dst, m
}

func (n *node) read(q *qp, dst []byte, m verbs.MR, id uint64) {
	n.t.Helper()
	wr := []verbs.SendWR{{ID: id, Op: verbs.OpRead, Flags: verbs.Signaled, Data: dst, Remote: verbs.Remote{Addr: m.Addr(), Key: m.Key()}}}
	if _, err := q.PostSend(wr); err != nil {
		n.t.Fatal(err)
	}
}
