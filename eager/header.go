package eager

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Kind is what a message is.
type Kind uint8

// Kinds of messages.
const (
	Data   Kind = 1 + iota // a whole message
	Offer                  // request-to-send of a rendezvous: an Extension follows
	Finish                 // a rendezvous is over: an Extension follows, with its name
	Credit                 // nothing but the credits that every header can carry
	Cancel                 // an Offer is withdrawn, or is to be: an Extension follows, with its name
	Bye                    // nothing that is matched follows, but what goes on between ranks that end
)

const (
	version     = 2
	versionMask = 0xf0
	kindMask    = 0x0f
)

// Version is the protocol's, agreed at connect and repeated in each header.
const Version = version

// HeaderSize is the bytes in front of each message, ExtensionSize those that
// follow in an Offer, a Finish or a Cancel.
const (
	HeaderSize    = 16
	ExtensionSize = 32
)

// NoteSize is the bytes of a note of the upper layer's, which an Offer with FlagNote has
// behind its Extension.
const NoteSize = 64

// FlagNote in an Offer's flags says that a note follows.
const FlagNote = 1

// In a Finish: the receiver could not read; it will not; it has let the offer go, as
// its sender asked.
const (
	FlagFailed    = 1
	FlagUnwanted  = 2
	FlagWithdrawn = 4
)

// FlagAsk in a Cancel's flags: the offer is withdrawn if its receiver agrees, which a
// Finish with FlagWithdrawn says. If it has matched the offer there is no answer but the
// offer's own Finish.
const FlagAsk = 1

// FlagHello in a Credit's flags: the sender has just made a contact, because it waits
// for something.
const FlagHello = 1

// Header begins every message. The sender's rank isn't in it: it is the queue
// pair's. Nor is the length: it is the completion's.
//
//	kind and version 1, flags 1, credits 2, context 4, tag 4, sequence 4; little endian
type Header struct {
	Kind    Kind
	Flags   uint8
	Credits uint16 // messages that the receiver of this may send besides
	Context uint32
	Tag     int32
	Seq     uint32 // counts the sender's matched messages to this peer
}

// put writes the header in two stores.
func (h *Header) put(b *[HeaderSize]byte) {
	binary.LittleEndian.PutUint64(b[:], uint64(h.Kind)|version<<4|uint64(h.Flags)<<8|uint64(h.Credits)<<16|uint64(h.Context)<<32)
	binary.LittleEndian.PutUint64(b[8:], uint64(uint32(h.Tag))|uint64(h.Seq)<<32)
}

// putData encodes the header of a whole message. It is put from what each message
// has: a Header in memory would be written in halves of words and read in words,
// for which the processor waits.
func putData(b *[HeaderSize]byte, credits uint16, context uint32, tag int32, seq uint32) {
	binary.LittleEndian.PutUint64(b[:], uint64(Data)|version<<4|uint64(credits)<<16|uint64(context)<<32)
	binary.LittleEndian.PutUint64(b[8:], uint64(uint32(tag))|uint64(seq)<<32)
}

func putCredits(b *[HeaderSize]byte, n uint16) { binary.LittleEndian.PutUint16(b[2:], n) }

func putSeq(b *[HeaderSize]byte, seq uint32) { binary.LittleEndian.PutUint32(b[12:], seq) }

// Extension is what an Offer adds. A Finish and a Cancel have only the name in it.
//
//	length 8, address 8, key 8, name 8; little endian
type Extension struct {
	Length uint64 // of the message
	Addr   uint64 // where its sender has it
	Key    uint64 // of that memory; other messages may lie in the same
	Name   uint64 // of this rendezvous: counts its sender's offers to this peer, from 1
}

func (x *Extension) put(b []byte) {
	binary.LittleEndian.PutUint64(b, x.Length)
	binary.LittleEndian.PutUint64(b[8:], x.Addr)
	binary.LittleEndian.PutUint64(b[16:], x.Key)
	binary.LittleEndian.PutUint64(b[24:], x.Name)
}

// ErrMalformed is wrapped by what Parse returns.
var ErrMalformed = errors.New("eager: malformed message")

var (
	errShort   = fmt.Errorf("%w: shorter than a header", ErrMalformed)
	errVersion = fmt.Errorf("%w: another protocol version", ErrMalformed)
	errKind    = fmt.Errorf("%w: unknown kind", ErrMalformed)
	errTag     = fmt.Errorf("%w: negative tag", ErrMalformed)
	errStarved = fmt.Errorf("%w: the sender had no credit", ErrMalformed)
	errExt     = fmt.Errorf("%w: extension missing or too long", ErrMalformed)
)

// parseData is Parse for the common case, small enough to be inlined: a whole
// message. If it says no, Parse says what b is.
func parseData(b []byte) (credits int, context uint32, tag int32, seq uint32, ok bool) {
	if len(b) < HeaderSize {
		return 0, 0, 0, 0, false
	}
	w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	return int(uint16(w0 >> 16)), uint32(w0 >> 32), int32(uint32(w1)), uint32(w1 >> 32),
		uint8(w0) == version<<4|uint8(Data) && int32(uint32(w1)) >= 0
}

// Parse reads the header of a message, and checks all of it.
func Parse(b []byte) (h Header, body []byte, err error) {
	if len(b) < HeaderSize {
		return h, nil, errShort
	}
	w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if w0&versionMask != version<<4 {
		return h, nil, errVersion
	}
	h = Header{
		Kind: Kind(w0 & kindMask), Flags: uint8(w0 >> 8), Credits: uint16(w0 >> 16), Context: uint32(w0 >> 32),
		Tag: int32(uint32(w1)), Seq: uint32(w1 >> 32),
	}
	if h.Kind < Data || h.Kind > Bye {
		return h, nil, errKind
	}
	if h.Tag < 0 {
		return h, nil, errTag
	}
	if want := extension(h.Kind, h.Flags); want >= 0 && len(b) != HeaderSize+want {
		return h, nil, errExt
	}
	return h, b[HeaderSize:], nil
}

// extension is how many bytes follow the header; -1: any number.
func extension(k Kind, flags uint8) int {
	switch {
	case k == Data:
		return -1
	case k == Credit || k == Bye:
		return 0
	case k == Offer && flags&FlagNote != 0:
		return ExtensionSize + NoteSize
	}
	return ExtensionSize
}

// ParseExtension reads what follows the header of an Offer and its kin, whose
// length Parse has checked.
func ParseExtension(body []byte) Extension {
	return Extension{
		Length: binary.LittleEndian.Uint64(body),
		Addr:   binary.LittleEndian.Uint64(body[8:]),
		Key:    binary.LittleEndian.Uint64(body[16:]),
		Name:   binary.LittleEndian.Uint64(body[24:]),
	}
}
