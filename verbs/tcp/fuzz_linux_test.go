package tcp

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
)

// Two reads are under way when a stream of the fuzzer's comes: these are their names.
const (
	firstRead  = 1 << readBits
	secondRead = 2<<readBits | 1
	readSize   = 5000
)

// outcome is what a stream must come to.
type outcome struct {
	Messages []message
	Reads    map[uint64]verbs.Status // those that have ended by themselves
	End      verbs.Status            // StatusOK: it goes on
}

type message struct {
	Body  string
	Imm   uint32
	Flags verbs.Flags
}

// framesOf makes a stream of what a fuzzer says: whole frames of each kind, of which one
// byte may be wrong.
func framesOf(b []byte) (stream []byte) {
	take := func() (v int) {
		if len(b) == 0 {
			return 0
		}
		v = int(b[0])
		b = b[1:]
		return v
	}
	frame := func(h header, body []byte) { stream = appendPad(append(h.append(stream), body...), len(body)) }
	for len(b) > 0 && len(stream) < 1<<19 {
		op := take()
		at := len(stream)
		name := uint64(firstRead)
		if op&8 != 0 {
			name = secondRead
		}
		switch op & 7 {
		case 0, 1:
			n := take() << (take() % 9)
			h := header{kind: kindSend, length: uint32(n)}
			if op&16 != 0 {
				h.flags, h.word = uint8(verbs.WithImm), uint64(take())
			}
			if op&32 != 0 {
				h.flags |= uint8(verbs.FlagSolicited)
			}
			frame(h, bytes.Repeat([]byte{byte(take())}, n))
		case 2:
			n := take()<<(take()%6) + 1
			off := uint64(take() << (take() % 6))
			frame(header{kind: kindData, length: uint32(n), word: name<<offsetBits | off}, bytes.Repeat([]byte{byte(op)}, n))
		case 3:
			frame(header{kind: kindEnd, flags: uint8(verbs.StatusRemoteAccess), word: name<<offsetBits | uint64(take())}, nil)
		case 4:
			stream = request{addr: uint64(take()), key: uint64(take()), length: uint64(take())}.append(stream, uint32(take()))
		case 5:
			frame(header{kind: kindCancel, word: name << offsetBits}, nil)
		case 6:
			frame(header{kind: kind(take()), flags: uint8(take()), length: uint32(take()), word: uint64(take())}, nil)
		case 7:
			frame(header{kind: kindBye}, nil)
		}
		if op&64 != 0 {
			if i := at + take(); i < len(stream) {
				stream[i] = byte(take())
			}
		}
	}
	if len(stream) > 0 && len(stream)%64 == 8 {
		stream = stream[:len(stream)-3] // and the end may be missing
	}
	return stream
}

// expected works out what a stream must come to, from the description of the frames
// alone. The slots have 64 KiB.
func expected(b []byte) (o outcome) {
	o.Reads = map[uint64]verbs.Status{}
	id := map[uint64]uint64{firstRead: 1, secondRead: 2}
	status := map[uint64]verbs.Status{}
	got := map[uint64]uint64{}
	most := map[uint64]uint64{firstRead: readSize, secondRead: readSize} // not those that are over
	over := func(name uint64, s verbs.Status) {
		if got[name] == most[name] {
			delete(most, name)
			o.Reads[id[name]] = s
		}
	}
	o.End = verbs.StatusCorrupt
	for len(b) >= 16 {
		kind, flags, zero := b[0], b[1], binary.LittleEndian.Uint16(b[2:])
		n, word := uint64(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint64(b[8:])
		name, off := word>>40, word&(1<<40-1)
		whole := 16 + (n+7)/8*8
		if zero != 0 {
			return o
		}
		switch kind {
		case 2: // a message
			if n > 64<<10 || flags&^(4|8) != 0 || word>>32 != 0 || flags&8 == 0 && word != 0 {
				return o
			}
			if uint64(len(b)) < whole {
				o.End = verbs.StatusOK
				return o
			}
			o.Messages = append(o.Messages, message{string(b[16 : 16+n]), uint32(word), verbs.Flags(flags) & verbs.WithImm})
		case 3: // a request
			if n != 24 || flags != 0 || off != 0 {
				return o
			}
			if uint64(len(b)) < whole {
				o.End = verbs.StatusOK
				return o
			}
			if want := binary.LittleEndian.Uint64(b[32:]); want == 0 || want >= 1<<40 {
				return o
			}
		case 4: // a part
			if n == 0 || n > 256<<10 || flags != 0 || most[name] == 0 || off > readSize || off+n > readSize || n > most[name]-got[name] {
				return o
			}
			if uint64(len(b)) < whole {
				o.End = verbs.StatusOK
				return o
			}
			got[name] += n
			over(name, status[name])
		case 5: // the end of a read
			_, open := most[name]
			if n != 0 || !open || flags != uint8(verbs.StatusRemoteAccess) || status[name] != 0 || off < got[name] || off >= readSize {
				return o
			}
			most[name], status[name] = off, verbs.StatusRemoteAccess
			over(name, verbs.StatusRemoteAccess)
		case 6: // a cancel
			if n != 0 || off != 0 || flags != 0 {
				return o
			}
		case 7: // the goodbye
			if n == 0 && flags == 0 && word == 0 {
				o.End = verbs.StatusPeerClosed
			}
			return o
		default:
			return o
		}
		b = b[whole:]
	}
	o.End = verbs.StatusOK
	return o
}

// FuzzStream feeds a queue pair with a stream, in pieces.
func FuzzStream(f *testing.F) {
	for _, s := range []string{"", "\x00\x05\x01abc", "\x02\x10\x00\x00\x00", "\x07", "\x46\x02\x00\x00\x00\x07\xff", "\x03\x00\x0b\x00\x01", "\x10\xff\x08\x11\x20\x20"} {
		f.Add([]byte(s), uint64(1))
	}
	n := newNode(f, Config{}, normal)
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		stream := framesOf(text)
		p := newPeer(t, n, 64<<10)
		var wrs []verbs.SendWR
		for id := uint64(1); id <= 2; id++ {
			wrs = append(wrs, verbs.SendWR{ID: id, Op: verbs.OpRead, Flags: verbs.Signaled, Data: make([]byte, readSize)})
		}
		if _, err := n.qp.PostSend(wrs); err != nil {
			t.Fatal(err)
		}
		got := outcome{Reads: map[uint64]verbs.Status{}}
		for _, c := range p.feed(stream, seed) {
			switch c.Op {
			case verbs.OpRecv:
				got.Messages = append(got.Messages, message{string(c.Data), c.Imm, c.Flags})
			case verbs.OpRead:
				if c.Status == verbs.StatusOK || c.Status == verbs.StatusRemoteAccess { // else it was flushed
					got.Reads[c.ID] = c.Status
				}
			case verbs.OpClosed:
				got.End = c.Status
			}
		}
		want := expected(stream)
		if _, over := want.Reads[1]; !over { // then the second one waits, or is flushed, too
			delete(want.Reads, 2)
			delete(got.Reads, 2)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("-want +got:\n%s", d)
		}
		_ = n.qp.Close()
		for range 3 {
			n.poll()
		}
	})
}
