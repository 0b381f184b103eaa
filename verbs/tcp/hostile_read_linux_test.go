package tcp

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
)

// A peer reads what was registered for it, and nothing else: no other bytes, by no
// other key, and not for longer.
func TestHostileReads(t *testing.T) {
	v := newVictim(t, Config{}, normal)
	addr, key := v.key.Addr(), v.key.Key()
	size := uint64(len(v.memory) - 2000)
	old := must(v.Register(v.memory[:100], verbs.AccessRead))(t)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	local := must(v.Register(v.memory, verbs.AccessLocal))(t)
	for i, c := range []struct {
		name              string
		addr, key, length uint64
		ok                bool
	}{
		{"one byte", addr, key, 1, true},
		{"the last byte", addr + size - 1, key, 1, true},
		{"all", addr, key, size, true},
		{"one byte before", addr - 1, key, 1, false},
		{"one byte behind", addr + size, key, 1, false},
		{"one byte too many", addr, key, size + 1, false},
		{"from the middle too many", addr + size/2, key, size/2 + 1, false},
		{"around the end of the address space", math.MaxUint64, key, 2, false},
		{"far below", 0, key, 1, false},
		{"as many as a request can say", addr, key, maxRead, false},
		{"no key", addr, 0, 1, false},
		{"another key", addr, key + 1, 1, false},
		{"a key of a registration that was closed", old.Addr(), old.Key(), 1, false},
		{"the key of one that is for the device itself", local.Addr(), local.Key(), 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v.t, v.heard = t, nil
			name := uint32(i + 1)
			v.say(v.asks(name, c.addr, c.key, c.length))
			sum := 0
			var last reply
			v.until("an answer", func() bool {
				sum = 0
				for _, r := range v.replies() {
					if last = r; r.kind == kindData {
						sum += r.bytes
					}
				}
				return last.kind == kindEnd || uint64(sum) >= c.length
			})
			want := reply{kind: kindEnd, status: verbs.StatusRemoteAccess, name: name}
			if !c.ok {
				if diff := cmp.Diff(want, last, cmp.AllowUnexported(reply{})); diff != "" || sum != 0 {
					t.Errorf("%d bytes come, and (-want +got):\n%s", sum, diff)
				}
			} else if uint64(sum) != c.length || last.name != name {
				t.Errorf("%d bytes of %d, of read %d", sum, c.length, last.name)
			}
			if v.closed() != 0 {
				t.Errorf("the queue pair ends: %v", v.closed())
			}
		})
	}
}

// When a registration is closed nothing more of it is sent, though the peer has asked
// before; what changes later never arrives.
func TestHostileReadAfterClose(t *testing.T) {
	v := newVictim(t, Config{}, normal)
	size := uint64(len(v.memory) - 2000)
	for name := range uint32(50) {
		v.say(v.asks(name, v.key.Addr(), v.key.Key(), size))
	}
	// The liar doesn't read, so that much is under way when the registration ends.
	for range 100 {
		v.poll()
	}
	if err := v.key.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range v.memory {
		v.memory[i] = 0xee
	}
	refused := 0
	v.until("the ends of all", func() bool {
		whole, sums := 0, map[uint32]uint64{}
		refused = 0
		for _, r := range v.replies() {
			switch r.kind {
			case kindEnd:
				refused++
			case kindData:
				if sums[r.name] += uint64(r.bytes); sums[r.name] == size { // it was under way
					whole++
				}
			}
		}
		return refused+whole >= 50
	})
	if refused == 0 {
		t.Error("no read was refused")
	}
	for b := v.heard; len(b) >= headerSize; {
		h, err := parseHeader(b)
		if err != nil {
			t.Fatal(err)
		}
		if h.kind == kindData && bytes.Contains(b[headerSize:headerSize+int(h.length)], []byte{0xee}) {
			t.Fatal("memory is sent whose registration has been closed")
		}
		b = b[h.size():]
	}
}

// What a peer sends of a read can't leave the memory that it is for, and when that is
// the user's again nothing comes into it.
func TestHostileAnswers(t *testing.T) {
	const size = 1000
	for _, c := range []struct {
		name    string
		answer  func(name uint64) []byte
		corrupt bool
	}{
		{"behind the end", func(n uint64) []byte { return frame(kindData, 0, 8, n|(size-4), make([]byte, 8)...) }, true},
		{"far behind", func(n uint64) []byte { return frame(kindData, 0, 8, n|maxRead, make([]byte, 8)...) }, true},
		{"too long", func(n uint64) []byte { return frame(kindData, 0, size+1, n, make([]byte, 2*size)...) }, true},
		{"twice", func(n uint64) []byte {
			return bytes.Repeat(frame(kindData, 0, 600, n, make([]byte, 600)...), 2)
		}, true},
		{"once more after all", func(n uint64) []byte {
			return bytes.Repeat(frame(kindData, 0, size, n, make([]byte, size)...), 2)
		}, true},
		{"of another generation", func(n uint64) []byte {
			return frame(kindData, 0, 8, n^1<<(offsetBits+readBits), make([]byte, 8)...)
		}, true},
		{"an abort that nobody asked for", func(n uint64) []byte { return frame(kindEnd, uint8(verbs.StatusAborted), 0, n) }, true},
		{"a refusal", func(n uint64) []byte { return frame(kindEnd, uint8(verbs.StatusRemoteAccess), 0, n) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVictim(t, Config{}, normal)
			all := bytes.Repeat([]byte{0x77}, 3*size)
			mine := all[size : 2*size]
			n, err := v.qp.PostSend([]verbs.SendWR{{ID: 9, Op: verbs.OpRead, Flags: verbs.Signaled, Data: mine, Remote: verbs.Remote{Addr: 1, Key: 2}}})
			if n != 1 || err != nil {
				t.Fatal(n, err)
			}
			v.until("the request", func() bool { return len(v.heard) >= headerSize+requestSize })
			v.say(c.answer(binary.LittleEndian.Uint64(v.heard[8:])))
			v.until("the read's end", func() bool { return len(v.got) > 0 && (!c.corrupt || v.closed() != 0) })
			if c.corrupt != (v.closed() == verbs.StatusCorrupt) {
				t.Errorf("the queue pair ends with %v", v.closed())
			}
			for i, b := range all {
				if b != 0x77 && (i < size || i >= 2*size) {
					t.Fatalf("byte %d is written, which is none of the read's", i)
				}
			}
		})
	}
}

// After an abort, and after a queue pair has been closed, the memory of a read is the
// user's.
func TestHostileLateAnswer(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(v *victim)
	}{
		{"aborted", func(v *victim) { v.qp.Abort(9) }},
		{"closed", func(v *victim) { _ = v.qp.Close() }},
		{"closed device", func(v *victim) { _ = v.Close() }},
	} {
		for _, under := range []int{0, 8, 600} { // bytes that came before
			t.Run(c.name, func(t *testing.T) {
				v := newVictim(t, Config{}, normal)
				mine := make([]byte, 1<<20)
				wr := []verbs.SendWR{{ID: 9, Op: verbs.OpRead, Flags: verbs.Signaled, Data: mine, Remote: verbs.Remote{Addr: 1, Key: 2}}}
				if n, err := v.qp.PostSend(wr); n != 1 || err != nil {
					t.Fatal(n, err)
				}
				v.until("the request", func() bool { return len(v.heard) >= headerSize+requestSize })
				answer := frame(kindData, 0, maxData, binary.LittleEndian.Uint64(v.heard[8:]), bytes.Repeat([]byte{1}, maxData)...)
				if under > 0 {
					v.say(answer[:headerSize+under])
					v.until("a part", func() bool { return mine[under-1] == 1 })
				}
				c.end(v)
				for range 100 {
					v.poll()
				}
				before := bytes.Clone(mine)
				if under > 0 {
					v.say(answer[headerSize+under:])
				} else {
					v.say(answer)
				}
				for range 100 {
					v.poll()
				}
				if !bytes.Equal(mine, before) {
					t.Error("memory is written that is the user's again")
				}
			})
		}
	}
}
