package tcp

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// peer is the other end of a node's queue pair: it writes what the test says.
type peer struct {
	t  testing.TB
	n  *node
	fd int
}

var lastLabel uint32 = 1000

// newPeer makes a queue pair on n that is connected to nobody but the test.
func newPeer(t testing.TB, n *node, slotSize uint32) *peer {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	lastLabel += 2
	n.pair(t, n, lastLabel, lastLabel+1)
	p := &peer{t, n, fds[1]}
	t.Cleanup(p.close)
	n.dev.admit(link{fd: fds[0], local: lastLabel, remote: lastLabel + 1, via: "the test"})
	if slotSize != 0 {
		p.write(hello{slotSize}.append(nil))
		within(t, "the hello", func() bool { n.poll(); return n.qp.state == qpReady })
	}
	return p
}

func (p *peer) close() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
	}
	p.fd = -1
}

// write writes all of b, while nobody polls.
func (p *peer) write(b []byte) {
	p.t.Helper()
	for len(b) > 0 {
		n, err := send(p.fd, b)
		if err != nil || n == 0 {
			p.t.Fatalf("write: %d, %v", n, err)
		}
		b = b[n:]
	}
}

// read is what the device has written, until nothing more is there.
func (p *peer) read() (all []byte) {
	b := make([]byte, 64<<10)
	for {
		n, _, err := recv(p.fd, b)
		if n == 0 || err != nil {
			return all
		}
		all = append(all, b[:n]...)
	}
}

// feed writes b in pieces, and polls after each. It returns copies of what came, until
// the queue pair's end.
func (p *peer) feed(b []byte, seed uint64) (got []verbs.Completion) {
	p.t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	for stuck := 0; len(b) > 0 && p.n.qp.state == qpReady; stuck++ {
		k, err := send(p.fd, b[:min(len(b), 1+rng.IntN(1<<rng.IntN(16)))])
		if k > 0 {
			stuck = 0
		}
		if err != nil || stuck > 1000 {
			p.t.Fatalf("the device doesn't read: %d bytes are left, %v; %+v", len(b), err, p.n.qp.conn.in)
		}
		b = b[k:]
		got = append(got, p.polled()...)
		_ = p.read() // or the device's answers fill the socket
	}
	return got
}

// polled polls until nothing comes.
func (p *peer) polled() (got []verbs.Completion) {
	for idle := 0; idle < 4; idle++ {
		if c := p.n.qp.conn; c != nil {
			if k, err := unix.IoctlGetInt(c.link.fd, unix.TIOCINQ); err == nil && k > 0 {
				idle = 0
			}
		}
		for _, c := range p.n.poll() {
			idle = 0
			c.Data = append([]byte{}, c.Data...)
			if c.Op == verbs.OpRecv && c.Slot != verbs.NoSlot {
				p.n.rq.Repost([]verbs.Slot{c.Slot})
			}
			if c.Op != verbs.OpLow {
				got = append(got, c)
			}
		}
	}
	return got
}
