//go:build linux

package shm

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

func descriptors() int { return len(ourDescriptors()) }

func dialDevice(t *testing.T, d *Device) *net.UnixConn {
	t.Helper()
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: d.id.socket(), Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// files are descriptors that a stranger may send.
type files struct{ seg, small, unsealed, pipe, bell int }

func openFiles(t *testing.T, size int64) (f files) {
	t.Helper()
	must := func(fd int, err error) int {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		return fd
	}
	f.seg = must(newSegment("verbena-test", size))
	f.small = must(newSegment("verbena-test", 4096))
	f.unsealed = must(unix.MemfdCreate("verbena-test", unix.MFD_CLOEXEC))
	if err := unix.Ftruncate(f.unsealed, size); err != nil {
		t.Fatal(err)
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	f.pipe = must(p[0], nil)
	must(p[1], nil)
	f.bell = must(unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK))
	return f
}

// Strangers, and peers that greet wrongly, do the device no harm: it hangs up, or
// says why not; it keeps none of their descriptors; and its true peers connect.
func TestStrangers(t *testing.T) {
	for _, v := range []struct {
		name  string
		greet func(h *hello, f files) (fds []int)
		bytes func(b []byte) []byte
		reply uint32 // refusal that is expected; refusedNot: the connection just ends
	}{
		{name: "nothing", bytes: func([]byte) []byte { return nil }},
		{name: "garbage", bytes: func([]byte) []byte { return []byte("GET / HTTP/1.1\r\n\r\n") }},
		{name: "half", bytes: func(b []byte) []byte { return b[:len(b)/2] }},
		{name: "too much", bytes: func(b []byte) []byte { return append(b, make([]byte, 1000)...) }},
		{name: "an empty packet with descriptors", bytes: func([]byte) []byte { return []byte{} }, greet: good},
		{name: "garbage with descriptors", bytes: func([]byte) []byte { return []byte("x") }, greet: good},
		{name: "no proof", greet: func(h *hello, f files) []int { h.Proof = [32]byte{}; return good(h, f) }},
		{name: "a wrong proof", greet: func(h *hello, f files) []int { h.Proof[31] ^= 1; return good(h, f) }},
		{name: "the token itself", greet: func(h *hello, f files) []int { h.Proof = [32]byte{1, 2}; return good(h, f) }},
		{name: "another version", reply: refusedVersion, greet: func(h *hello, f files) []int { h.Version++; return good(h, f) }},
		{name: "another version without descriptors", reply: refusedVersion, greet: func(h *hello, _ files) []int { h.Version++; return nil }},
		{name: "a refusal as greeting", greet: func(h *hello, _ files) []int { h.Status = refusedLabel; return nil }},
		{name: "a refusal with descriptors and a ring outside", greet: func(h *hello, f files) []int {
			h.Status, h.Ring = refusedLabel, 1<<31
			return good(h, f)
		}},
		{name: "a refusal with descriptors and slots outside", greet: func(h *hello, f files) []int {
			h.Status, h.Pool.Off = refusedLabel, 1<<50
			return good(h, f)
		}},
		{name: "no descriptors", greet: func(*hello, files) []int { return nil }},
		{name: "one descriptor", greet: func(_ *hello, f files) []int { return []int{f.seg} }},
		{name: "two descriptors", greet: func(_ *hello, f files) []int { return []int{f.seg, f.seg} }},
		{name: "four descriptors", greet: func(_ *hello, f files) []int { return []int{f.seg, f.seg, f.bell, f.bell} }},
		{name: "a hundred descriptors", greet: func(_ *hello, f files) []int {
			fds := make([]int, 100)
			for i := range fds {
				fds[i] = f.seg
			}
			return fds
		}},
		{name: "a segment of another size", greet: func(_ *hello, f files) []int { return []int{f.small, f.small, f.bell} }},
		{name: "a segment that could shrink", greet: func(_ *hello, f files) []int { return []int{f.unsealed, f.small, f.bell} }},
		{name: "a pipe as segment", greet: func(_ *hello, f files) []int { return []int{f.pipe, f.small, f.bell} }},
		{name: "a segment without the magic", greet: func(_ *hello, f files) []int { return []int{f.seg, f.small, f.bell} }},
		{name: "an unknown label", reply: refusedLabel, greet: func(h *hello, f files) []int { h.Remote = 12345; return good(h, f) }},
		{name: "another device's label", reply: refusedDevice, greet: func(h *hello, f files) []int { h.From[0] ^= 1; return good(h, f) }},
	} {
		t.Run(v.name, func(t *testing.T) {
			a, b := newNode(t, Config{ConnectTimeout: 300 * time.Millisecond}, few), newNode(t, Config{}, few)
			// a has a queue pair for b, which b's own greeting names.
			qa, qb := a.newQP(), b.newQP()
			if err := qa.Connect(b.d.Addr(), 1, 2); err != nil {
				t.Fatal(err)
			}
			if err := qb.Connect(a.d.Addr(), 2, 1); err != nil {
				t.Fatal(err)
			}
			h := b.d.hello(qb)
			f := openFiles(t, h.SegSize)
			before := descriptors()
			c := dialDevice(t, a.d)
			var fds []int
			if v.greet != nil {
				fds = v.greet(&h, f)
			}
			msg := h.encode()
			if v.bytes != nil {
				msg = v.bytes(msg)
			}
			if msg != nil {
				if _, _, err := c.WriteMsgUnix(msg, unix.UnixRights(fds...), nil); err != nil {
					t.Fatal(err)
				}
			}
			checkReply(t, c, v.reply)
			_ = c.Close()
			until(t, "the descriptors to be closed", func() bool { return descriptors() <= before }, a)
			if len(a.ends) != 0 || qa.link != nil {
				t.Errorf("the queue pair heard of it: ends %v, link %v", a.ends, qa.link)
			}
			// The true peer is let in.
			if _, err := qb.PostSend(nil); err != nil {
				t.Fatal(err)
			}
			until(t, "the true peer", func() bool { return qa.state == qpReady && qb.state == qpReady }, a, b)
			talk(a, b, qa, qb)
		})
	}
}

// good are the descriptors of a true greeting, but of segments that are not b's.
func good(_ *hello, f files) []int { return []int{f.seg, f.seg, f.bell} }

// checkReply waits for the device's refusal, or for its hanging up.
func checkReply(t *testing.T, c *net.UnixConn, want uint32) {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(limit))
	h, fds, err := receiveHello(c)
	closeAll(fds)
	if want == refusedNot {
		if err == nil {
			t.Errorf("the device answers %+v", h)
		} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Error("the device does not hang up")
		}
		return
	}
	if err != nil || h.Status != want {
		t.Errorf("the device answers %+v, %v; want status %d", h, err, want)
	}
	if h.Proof != ([32]byte{}) || h.Nonce != 0 || h.SegSize != 0 {
		t.Errorf("the refusal tells too much: %+v", h)
	}
}

// Many strangers that say nothing hold neither up true peers nor the device's end.
func TestSilentStrangers(t *testing.T) {
	a, b := newNode(t, Config{ConnectTimeout: time.Hour}, few), newNode(t, Config{}, few)
	before := descriptors()
	var conns []*net.UnixConn
	for range 50 {
		conns = append(conns, dialDevice(t, a.d))
	}
	qa, qb := join(a, b)
	talk(a, b, qa, qb)
	begin := time.Now()
	if err := a.d.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > limit/2 {
		t.Errorf("closing took %v", took)
	}
	for _, c := range conns {
		var one [1]byte
		if n, err := c.Read(one[:]); n == 0 && err == nil {
			t.Error("the connection is still open")
		}
		_ = c.Close()
	}
	if err := b.d.Close(); err != nil {
		t.Fatal(err)
	}
	if after := descriptors(); after > before-4 {
		t.Errorf("%d descriptors, there were %d before the strangers", after, before)
	}
}

// Strangers on a connection that stands: whatever comes on it is not taken for a
// goodbye, and descriptors that come are not kept.
func TestNoiseOnConnection(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, qb := join(a, b)
	before := descriptors()
	f := openFiles(t, 4096)
	opened := descriptors() - before
	for _, msg := range []string{"x", "a long message that is no goodbye", "\x00"} {
		if _, _, err := qb.link.conn.WriteMsgUnix([]byte(msg), unix.UnixRights(f.seg, f.bell), nil); err != nil {
			t.Fatal(err)
		}
	}
	talk(a, b, qa, qb)
	if n := descriptors() - before; n != opened {
		t.Errorf("%d descriptors more than before, %d were opened here", n, opened)
	}
	b.d.Die()
	until(t, "the end", func() bool { return len(a.ends) > 0 }, a)
	if a.ends[0].status != verbs.StatusPeerDead {
		t.Errorf("ended with %v", a.ends[0].status)
	}
}
