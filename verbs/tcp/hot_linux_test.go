package tcp

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// What comes over a connection that is not among the hot ones is found, however many looks
// lie between two polls: looks and polls take turns in looking at all sockets, and must
// not miss each other's.
func TestQuietBesideHot(t *testing.T) {
	x, hot := newDuo(t, normal)
	quiet := newNode(t, Config{}, normal)
	first := x.qp
	joinAs(t, x, quiet, 3, 4)
	second := x.qp
	for i := range 2 * wideEvery * wideEvery {
		looks, phase := i/wideEvery, i%wideEvery
		hot.send(t, []byte{1})
		x.receive(t, 1)
		x.dev.look.Lock()
		x.dev.hot.drop(second.conn)
		x.dev.look.Unlock()
		if x.dev.hot.n != 1 || x.dev.hot.conns[0] != first.conn {
			t.Fatal("the first connection is not hot")
		}
		quiet.send(t, []byte{2})
		within(t, "the message to leave", func() bool { quiet.poll(); return arrived(t, second.conn.link.fd) })
		x.dev.hot.looks = uint32(phase)
		found := false
		for k := 0; k < 4*wideEvery && !found; k++ {
			for range looks {
				if x.rcq.Pending() {
					break
				}
			}
			for _, c := range x.out[:x.rcq.Poll(x.out)] {
				found = found || c.Op == verbs.OpRecv && c.QP == second.num
			}
		}
		if !found {
			t.Errorf("with %d looks between two polls the message was not found in %d polls", looks, 4*wideEvery)
		}
	}
}

// arrived says whether something has come over a socket.
func arrived(t *testing.T, fd int) bool {
	t.Helper()
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	if err != nil && err != unix.EINTR {
		t.Fatal(err)
	}
	return n == 1
}
