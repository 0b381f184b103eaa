package tcp

import (
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

// A device that can't go on before a peer reads has nothing to do: whoever drives it sleeps.
func TestNothingToServe(t *testing.T) {
	n := newNode(t, Config{}, tuning{inlineRecv: 64, buffer: 4096, recvMost: 2048, sendBuffer: 8 << 10})
	p := newPeer(t, n, 1000)
	r := p.rail(1)
	mem := make([]byte, 8<<20)
	mr, err := n.dev.Register(mem, verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	blocked := func() bool { return n.qp.conn.out.blocked }
	p.write(request{mr.Addr(), mr.Key(), uint64(len(mem))}.append(nil, 1))
	within(t, "both connections to be full", func() bool {
		n.poll()
		return blocked() && len(n.qp.rails) == 1 && n.qp.rails[0].out.blocked
	})
	p.write(header{kind: kindCancel, word: 1 << offsetBits}.bytes())
	within(t, "the end of the read to wait for its connection", func() bool {
		n.poll()
		_ = r.read()
		return blocked() && !n.qp.rails[0].out.blocked && len(n.qp.serves) == 1 && n.qp.serves[0].status == verbs.StatusAborted
	})
	for range 3 * wideEvery {
		n.poll()
	}
	if n.rcq.Pending() {
		t.Error("there is always something to do")
	}
	ended := false
	within(t, "the end of the read", func() bool {
		n.poll()
		_, _ = p.read(), r.read()
		ended = len(n.qp.serves) == 0
		return ended
	})
}
