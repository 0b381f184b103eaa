package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// A stream is frames: a header, a payload, and zeros up to a multiple of 8 bytes, so
// that payloads lie 8-aligned in the receiver's buffer. Little endian:
//
//	0  kind    uint8
//	1  flags   uint8  kindSend: verbs.Flags; kindEnd: verbs.Status; else 0
//	2  zero    uint16
//	4  length  uint32 of the payload
//	8  word    uint64 kindSend: the immediate; of reads: name<<40 | offset; else 0
const headerSize = 16

// kind is what a frame is.
type kind uint8

const (
	kindHello  kind = 1 + iota // the first: what this end takes (helloSize bytes)
	kindSend                   // a message
	kindRead                   // asks for memory (requestSize bytes)
	kindData                   // a part of what was asked for
	kindEnd                    // of a read that gets no more than offset bytes, and why
	kindCancel                 // no more of a read is wanted
	kindBye                    // the last: this end closes in good order
	kinds
)

const (
	helloSize   = 8
	requestSize = 24
	// maxData is the largest part of a read in one frame: what is posted meanwhile
	// goes between two of them. It is written by one call, if there is room.
	maxData = 512 << 10
	// maxSend is the largest message.
	maxSend = 256 << 10
	// offsetBits are those of an offset in a header's word. The name of a read has
	// the others.
	offsetBits = 40
	maxRead    = 1<<offsetBits - 1
)

// header is a frame's.
type header struct {
	kind   kind
	flags  uint8
	length uint32
	word   uint64
}

// name and offset are those of a read.
func (h *header) name() uint32   { return uint32(h.word >> offsetBits) }
func (h *header) offset() uint64 { return h.word & maxRead }

// size is that of the whole frame.
func (h *header) size() int { return headerSize + align8(int(h.length)) }

func align8(n int) int { return (n + 7) &^ 7 }

func (h *header) append(b []byte) []byte {
	b = append(b, byte(h.kind), h.flags, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, h.length)
	return binary.LittleEndian.AppendUint64(b, h.word)
}

// zeros pad frames.
var zeros [8]byte

// appendPad ends a frame whose payload has n bytes.
func appendPad(b []byte, n int) []byte { return append(b, zeros[:align8(n)-n]...) }

// rules are what a header of each kind may say.
var rules = [kinds]struct{ least, most, flags uint32 }{
	kindHello:  {helloSize, helloSize, 0},
	kindSend:   {0, maxSend, uint32(verbs.FlagSolicited | verbs.WithImm)},
	kindRead:   {requestSize, requestSize, 0},
	kindData:   {1, maxData, 0},
	kindEnd:    {0, 0, 0xff},
	kindCancel: {0, 0, 0},
	kindBye:    {0, 0, 0},
}

var errFrame = errors.New("no frame")

// parseHeader reads the header at the beginning of b, which is long enough, and
// checks all of it that means the same on every connection.
func parseHeader(b []byte) (h header, err error) {
	h = header{
		kind: kind(b[0]), flags: b[1],
		length: binary.LittleEndian.Uint32(b[4:]), word: binary.LittleEndian.Uint64(b[8:]),
	}
	if h.kind == 0 || h.kind >= kinds || b[2] != 0 || b[3] != 0 {
		return h, fmt.Errorf("%w: it begins with % x", errFrame, b[:headerSize])
	}
	r := &rules[h.kind]
	if h.length < r.least || h.length > r.most || uint32(h.flags)&^r.flags != 0 {
		return h, fmt.Errorf("%w: kind %d of %d bytes with flags %#x", errFrame, h.kind, h.length, h.flags)
	}
	switch h.kind {
	case kindHello, kindBye:
		if h.word != 0 {
			return h, fmt.Errorf("%w: kind %d with %#x", errFrame, h.kind, h.word)
		}
	case kindSend:
		if h.word>>32 != 0 || h.word != 0 && h.flags&uint8(verbs.WithImm) == 0 {
			return h, fmt.Errorf("%w: a message with the immediate %#x", errFrame, h.word)
		}
	case kindRead, kindCancel:
		if h.offset() != 0 {
			return h, fmt.Errorf("%w: kind %d at offset %d", errFrame, h.kind, h.offset())
		}
	case kindEnd:
		if s := verbs.Status(h.flags); s != verbs.StatusRemoteAccess && s != verbs.StatusAborted {
			return h, fmt.Errorf("%w: the end of a read with status %d", errFrame, s)
		}
	}
	return h, nil
}

// hello is what an end says of itself.
type hello struct{ slotSize uint32 }

func (o hello) append(b []byte) []byte {
	h := header{kind: kindHello, length: helloSize}
	b = binary.LittleEndian.AppendUint32(h.append(b), o.slotSize)
	return append(b, 0, 0, 0, 0)
}

func parseHello(b []byte) (hello, error) {
	o := hello{binary.LittleEndian.Uint32(b)}
	if o.slotSize == 0 || o.slotSize > maxSend || binary.LittleEndian.Uint32(b[4:]) != 0 {
		return o, fmt.Errorf("%w: a hello that says % x", errFrame, b[:helloSize])
	}
	return o, nil
}

// request asks for memory.
type request struct{ addr, key, length uint64 }

func (r request) append(b []byte, name uint32) []byte {
	h := header{kind: kindRead, length: requestSize, word: uint64(name) << offsetBits}
	b = h.append(b)
	b = binary.LittleEndian.AppendUint64(b, r.addr)
	b = binary.LittleEndian.AppendUint64(b, r.key)
	return binary.LittleEndian.AppendUint64(b, r.length)
}

func parseRequest(b []byte) (request, error) {
	r := request{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
	if r.length == 0 || r.length > maxRead {
		return r, fmt.Errorf("%w: a read of %d bytes", errFrame, r.length)
	}
	return r, nil
}
