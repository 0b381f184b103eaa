package tcp

import "testing"

// Peers that have nothing to say have no receive buffer, but for the last ones.
func TestQuietPeersHaveNoBuffer(t *testing.T) {
	const peers = 20
	x := newNode(t, Config{}, normal)
	var all []*node
	for i := range uint32(peers) {
		y := newNode(t, Config{}, normal)
		x.pair(t, y, 1, 10+i)
		y.pair(t, x, 10+i, 1)
		_, _ = x.qp.PostSend(nil)
		within(t, "the connection", func() bool {
			x.poll()
			y.poll()
			return y.qp.state == qpReady
		})
		all = append(all, y)
	}
	for range 3 {
		for _, y := range all {
			for range 5 {
				y.send(t, []byte("hello"))
			}
			y.poll()
			x.receive(t, 5)
		}
	}
	for range 2 * wideEvery {
		x.poll()
	}
	buffers := 0
	for _, c := range x.dev.poll.conns {
		if c != nil && c.in.buf != nil {
			buffers++
		}
	}
	if buffers > 2 || len(x.dev.buffers) > maxBuffers {
		t.Errorf("%d connections have buffers, and %d are kept", buffers, len(x.dev.buffers))
	}
}
