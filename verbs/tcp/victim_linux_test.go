package tcp

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs"
)

// victim is a device with one queue pair, whose peer is a liar: one that has the job's
// secret, and a link, on which the test writes what it likes.
type victim struct {
	*Device
	t    testing.TB
	cq   verbs.CQ
	rq   verbs.RQ
	qp   verbs.QP
	peer *end
	link *link

	memory []byte // registered
	key    verbs.MR

	got   []verbs.Completion // without data
	data  [][]byte           // of messages
	heard []byte             // by the liar
	ended error              // of the liar's link
}

const victimSlot = 8 << 10

func newVictim(t testing.TB, c Config, tune tuning) *victim {
	t.Helper()
	c.Secret, c.Net = secret.New(), "127.0.0.1"
	v := &victim{t: t, memory: bytes.Repeat([]byte{0x5a}, 1<<20)}
	var err error
	if v.Device, err = open(c, tune); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	v.peer = opened(t, c, accepts)
	v.cq = must(v.NewCQ(256))(t)
	v.rq = must(v.NewRQ(verbs.RQConfig{Shared: true, Slots: 4, SlotSize: victimSlot}))(t)
	v.qp = must(v.NewQP(verbs.QPConfig{SendCQ: v.cq, RecvCQ: v.cq, RQ: v.rq}))(t)
	v.key = must(v.Register(v.memory[1000:len(v.memory)-1000], verbs.AccessRead))(t)
	if err := v.qp.Connect(v.peer.addr(), 1, 2); err != nil {
		t.Fatal(err)
	}
	v.link = v.dial()
	v.say(hello{victimSlot}.append(nil))
	v.until("the hello", func() bool { return len(v.heard) >= headerSize+helloSize })
	v.heard = v.heard[headerSize+helloSize:]
	v.until("the liar's hello", func() bool { return v.qp.(*qp).state == qpReady })
	return v
}

func must[T any](x T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// dial makes one more link to the victim's queue pair.
func (v *victim) dial() *link {
	v.t.Helper()
	l, err := v.peer.dial(v.t.Context(), v.Addr(), 2, 1, 0)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = l.close() })
	return &l
}

// poll polls the victim once, and gives slots back at once.
func (v *victim) poll() {
	var c [16]verbs.Completion
	for _, one := range c[:v.cq.Poll(c[:])] {
		if one.Op == verbs.OpRecv {
			v.data = append(v.data, bytes.Clone(one.Data))
			if one.Slot != verbs.NoSlot {
				v.rq.Repost([]verbs.Slot{one.Slot})
			}
		}
		one.Data = nil
		v.got = append(v.got, one)
	}
}

// step polls the victim and hears what it says.
func (v *victim) step() {
	v.poll()
	var p [64 << 10]byte
	if v.ended == nil {
		n, err := v.link.read(p[:])
		v.heard = append(v.heard, p[:n]...)
		v.ended = err
	}
}

// until steps until something has come about.
func (v *victim) until(what string, done func() bool) {
	v.t.Helper()
	for start := time.Now(); !done(); runtime.Gosched() {
		if v.step(); time.Since(start) > limit {
			v.t.Fatalf("%s: not within %v; completions %+v, heard %d bytes, link %v", what, limit, v.got, len(v.heard), v.ended)
		}
	}
}

// say has the liar say b, as far as its link lives.
func (v *victim) say(b []byte) {
	v.t.Helper()
	for start := time.Now(); len(b) > 0 && v.ended == nil; runtime.Gosched() {
		n, err := v.link.write(b)
		if b = b[n:]; err != nil {
			return
		}
		if v.step(); time.Since(start) > limit {
			v.t.Fatalf("the victim has not read %d bytes in %v", len(b), limit)
		}
	}
}

// closed says how the queue pair has ended: 0 if it has not.
func (v *victim) closed() verbs.Status {
	for _, c := range v.got {
		if c.Op == verbs.OpClosed {
			return c.Status
		}
	}
	return verbs.StatusOK
}

// frame writes a header as it is, and what follows.
func frame(k kind, flags uint8, length uint32, word uint64, body ...byte) []byte {
	h := header{k, flags, length, word}
	return append(h.append(nil), body...)
}

// asks is a request for memory.
func (v *victim) asks(name uint32, addr, key, length uint64) []byte {
	return request{addr, key, length}.append(nil, name)
}

// reply is a frame that the liar has heard.
type reply struct {
	kind   kind
	status verbs.Status
	name   uint32
	bytes  int
}

// replies parses what was heard.
func (v *victim) replies() (all []reply) {
	b := v.heard
	for len(b) >= headerSize {
		h, err := parseHeader(b)
		if err != nil {
			v.t.Fatal(err)
		}
		if len(b) < h.size() {
			break
		}
		r := reply{kind: h.kind, name: h.name(), bytes: int(h.length)}
		if h.kind == kindEnd {
			r.status = verbs.Status(h.flags)
		}
		all, b = append(all, r), b[h.size():]
	}
	return all
}
