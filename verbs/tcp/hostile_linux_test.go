package tcp

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// What a peer must not say ends its queue pair as corrupt, and nothing else.
func TestHostileFrames(t *testing.T) {
	message := func(n int) []byte {
		return append(frame(kindSend, 0, uint32(n), 0), make([]byte, align8(n))...)
	}
	for _, c := range []struct {
		name string
		say  []byte
	}{
		{"zeros", make([]byte, 64)},
		{"ones", bytes.Repeat([]byte{0xff}, 64)},
		{"an unknown kind", frame(kinds, 0, 0, 0)},
		{"a message of 4 GiB", frame(kindSend, 0, math.MaxUint32, 0)},
		{"a message over the limit", frame(kindSend, 0, maxSend+1, 0)},
		{"a message over the slot", frame(kindSend, 0, victimSlot+1, 0)},
		{"a message with unknown flags", frame(kindSend, 0x80, 0, 0)},
		{"a message with an immediate that it hasn't", frame(kindSend, 0, 0, 7)},
		{"a second hello", hello{victimSlot}.append(nil)},
		{"a part of a read that nobody wants", frame(kindData, 0, 8, 0, make([]byte, 8)...)},
		{"an empty part", frame(kindData, 0, 0, 0)},
		{"the end of a read that nobody wants", frame(kindEnd, uint8(verbs.StatusAborted), 0, 3<<offsetBits)},
		{"a read that ends well", frame(kindEnd, uint8(verbs.StatusOK), 0, 0)},
		{"a read of 2⁶² bytes", request{0, 0, 1 << 62}.append(nil, 1)},
		{"a read of nothing", request{0, 0, 0}.append(nil, 1)},
		{"a short request", frame(kindRead, 0, requestSize-8, 0, make([]byte, requestSize)...)},
		{"a cancel with a payload", frame(kindCancel, 0, 8, 0, make([]byte, 8)...)},
		{"good ones before", append(bytes.Repeat(message(500), 100), frame(kinds, 0, 0, 0)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVictim(t, Config{}, normal)
			v.say(c.say)
			v.until("the end", func() bool { return v.closed() != 0 && v.ended != nil })
			if s := v.closed(); s != verbs.StatusCorrupt {
				t.Errorf("the queue pair ends with %v, expected that it is corrupt", s)
			}
			if n := v.rq.Posted(); n != 4 {
				t.Errorf("%d slots are posted, expected 4", n)
			}
		})
	}
}

// A peer that asks for much and reads nothing costs a bounded amount of memory, and
// nobody's time.
func TestHostileDeafPeer(t *testing.T) {
	v := newVictim(t, Config{}, normal)
	size := uint64(len(v.memory) - 2000)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	b := []byte{}
	for name := range uint32(maxServes) {
		b = append(b, v.asks(name, v.key.Addr(), v.key.Key(), size)...)
	}
	for len(b) > 0 {
		n, err := v.link.write(b)
		if err != nil {
			t.Fatal(err)
		}
		b = b[n:]
		v.poll()
	}
	for range 1000 {
		v.poll()
	}
	if now := heap(); now > before+8<<20 {
		t.Errorf("the heap grows by %d KiB", (now-before)>>10)
	}
	start := time.Now()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("closing takes %v", took)
	}
}

// A peer that connects again and again gets one link at a time, and costs no more than
// a few descriptors.
func TestHostileConnections(t *testing.T) {
	v := newVictim(t, Config{}, normal)
	before := len(descriptors())
	for range 50 {
		l := v.dial()
		v.until("the end of one too many", func() bool {
			_, err := l.read(make([]byte, 100))
			return err != nil
		})
	}
	for range 100 {
		v.step()
	}
	if n := len(descriptors()) - before; n > 50+10 { // the liar's own, and a few
		t.Errorf("%d descriptors more", n)
	}
	v.say(append(frame(kindSend, 0, 8, 0), 1, 2, 3, 4, 5, 6, 7, 8))
	v.until("the message", func() bool { return len(v.data) == 1 })
}

// Frames in any order, good ones and bad ones, cut anywhere: the victim doesn't panic,
// delivers what was well said before, and no byte of its memory changes.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, uint64(1))
	f.Add(frame(kindSend, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8), uint64(2))
	f.Add(append(frame(kindSend, 0, 104, 0), make([]byte, 104)...), uint64(3))
	f.Add(append(frame(kindRead, 0, requestSize, 0), make([]byte, 24)...), uint64(4))
	f.Add(frame(kindBye, 0, 0, 0), uint64(5))
	f.Add(bytes.Repeat(frame(kindCancel, 0, 0, 1<<offsetBits), 5), uint64(6))
	tune := tuning{inlineRecv: 64, buffer: 256, recvMost: 160}
	f.Fuzz(func(t *testing.T, said []byte, seed uint64) {
		v := newVictim(t, Config{}, tune)
		mine := make([]byte, 4000)
		wr := []verbs.SendWR{{ID: 9, Op: verbs.OpRead, Flags: verbs.Signaled, Data: mine[1000:3000], Remote: verbs.Remote{Addr: 1, Key: 2}}}
		if n, err := v.qp.PostSend(wr); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		r := rand.New(rand.NewPCG(seed, 1))
		for len(said) > 0 {
			n := min(len(said), 1+r.IntN(200))
			v.say(said[:n])
			said = said[n:]
		}
		_ = unix.Shutdown(v.link.fd, unix.SHUT_WR)
		v.until("the end", func() bool { return v.closed() != 0 })
		for i, b := range mine {
			if b != 0 && (i < 1000 || i >= 3000) {
				t.Fatalf("byte %d of the memory beside a read's is written", i)
			}
		}
		if i := bytes.IndexFunc(v.memory, func(r rune) bool { return r != 0x5a }); i >= 0 {
			t.Fatalf("byte %d of registered memory is written", i)
		}
		if n := v.rq.Posted(); n != 4 {
			t.Errorf("%d slots are posted, expected 4", n)
		}
		if s := v.closed(); s != verbs.StatusCorrupt && s != verbs.StatusPeerClosed && s != verbs.StatusPeerDead {
			t.Errorf("the queue pair ends with %v", s)
		}
		if v.ended != nil && !errors.Is(v.ended, io.EOF) && !errors.Is(v.ended, unix.ECONNRESET) {
			t.Errorf("the liar's link ends with %v", v.ended)
		}
	})
}
