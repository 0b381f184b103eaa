package tcp

import (
	"bytes"
	"runtime/debug"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

// railed makes two nodes that are connected, with so many further rails.
func railed(t testing.TB, tune tuning, rails int) (x, y *node) {
	x, y = newDuo(t, tune)
	for rail := 1; rail <= rails; rail++ {
		a, b := linked(t)
		x.dev.admit(link{fd: a.fd, local: 1, remote: 2, rail: rail})
		y.dev.admit(link{fd: b.fd, local: 2, remote: 1, rail: rail})
		a.fd, b.fd = -1, -1 // they are the devices'
	}
	return x, y
}

// Parts of a large read come over all rails, and are put together.
func TestRails(t *testing.T) {
	for _, tune := range []tuning{normal, {inlineRecv: 700, buffer: 2048, recvMost: 512, directLeast: 64, part: pieces}} {
		x, y := railed(t, tune, 2)
		mem := make([]byte, 8<<20+5)
		for i := range mem {
			mem[i] = byte(i>>12) ^ byte(i*5)
		}
		mr, err := y.dev.Register(mem, verbs.AccessRead)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, len(mem))
		if st := x.readInto(t, y, data, verbs.Remote{Addr: mr.Addr(), Key: mr.Key()}); st != verbs.StatusOK || !bytes.Equal(data, mem) {
			t.Errorf("the read: %v, whole %v", st, bytes.Equal(data, mem))
		}
		if n := y.counter("served.rails"); n < 1<<20 {
			t.Errorf("%d of %d bytes went over further rails", n, len(mem))
		}
	}
}

// A registration that is closed while parts of it are under way on all rails: the read
// ends when all of them are there, and nothing is read from the memory afterwards.
func TestRailsRefused(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	for turns := range 30 {
		x, y := railed(t, tuning{inlineRecv: 700, buffer: 2048, recvMost: 512, directLeast: 64, sendBuffer: 32 << 10, part: pieces}, 2)
		mem := bytes.Repeat([]byte{1}, 2<<20)
		mr, err := y.dev.Register(mem, verbs.AccessRead)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, len(mem))
		wr := []verbs.SendWR{{ID: 7, Op: verbs.OpRead, Flags: verbs.Signaled, Data: data, Remote: verbs.Remote{Addr: mr.Addr(), Key: mr.Key()}}}
		if _, err := x.qp.PostSend(wr); err != nil {
			t.Fatal(err)
		}
		for range turns {
			y.poll()
			x.poll()
		}
		want := verbs.StatusRemoteAccess
		if y.counter("served.bytes") == uint64(len(mem)) {
			want = verbs.StatusOK // all of it is under way
		}
		if err := mr.Close(); err != nil {
			t.Fatal(err)
		}
		for i := range mem {
			mem[i] = 0xee
		}
		var got verbs.Completion
		within(t, "the end of the read", func() bool {
			y.poll()
			for _, c := range x.poll() {
				got = c
			}
			return got.Op != 0
		})
		if got.Op != verbs.OpRead || got.Status != want {
			t.Fatalf("%v: %v, expected %v", got.Op, got.Status, want)
		}
		if i := bytes.IndexByte(data, 0xee); i >= 0 {
			t.Fatalf("byte %d was read after the registration was closed", i)
		}
		clear(data)
		for range 50 {
			y.poll()
			x.poll()
		}
		if !bytes.Equal(data, make([]byte, len(data))) {
			t.Fatal("the memory was written after the read's completion")
		}
		x.send(t, []byte("on"))
		within(t, "a message", func() bool { x.poll(); return len(y.poll()) > 0 })
	}
}

// When a rail breaks during a read, the queue pair ends; else it goes on without.
func TestBrokenRail(t *testing.T) {
	for _, reading := range []bool{false, true} {
		x, y := railed(t, tuning{inlineRecv: 700, buffer: 2048, recvMost: 512, directLeast: 64, sendBuffer: 32 << 10}, 1)
		x.poll()
		mr, err := y.dev.Register(make([]byte, 4<<20), verbs.AccessRead)
		if err != nil {
			t.Fatal(err)
		}
		if reading {
			wr := []verbs.SendWR{{ID: 7, Op: verbs.OpRead, Data: make([]byte, 4<<20), Remote: verbs.Remote{Addr: mr.Addr(), Key: mr.Key()}}}
			if _, err := x.qp.PostSend(wr); err != nil {
				t.Fatal(err)
			}
			within(t, "parts over the rail", func() bool { y.poll(); return y.counter("served.rails") > 0 })
		}
		y.qp.rails[0].shut()
		if !reading {
			within(t, "the rail's end", func() bool { x.poll(); return len(x.qp.rails) == 0 })
			x.send(t, []byte("on"))
			y.receive(t, 1)
			continue
		}
		ended := false
		within(t, "the queue pair's end", func() bool {
			for _, c := range x.poll() {
				ended = ended || c.Op == verbs.OpClosed && c.Status == verbs.StatusPeerDead
			}
			return ended
		})
	}
}
