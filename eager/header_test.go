package eager

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// encode is what Outgoing does: a header, and an extension where there is one.
func encode(h Header, x *Extension) []byte {
	b := make([]byte, HeaderSize)
	h.put((*[HeaderSize]byte)(b))
	if x != nil {
		b = append(b, make([]byte, ExtensionSize)...)
		x.put(b[HeaderSize:])
	}
	return b
}

// The bytes of the protocol, one by one: another version of the library, or
// another language, reads them.
func TestHeaderBytes(t *testing.T) {
	for _, v := range []struct {
		name string
		h    Header
		x    *Extension
		want []byte
	}{
		{"least", Header{Kind: Data}, nil, []byte{0x21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{
			"data",
			Header{Kind: Data, Flags: 0x80, Credits: 0x0102, Context: 0x03040506, Tag: 0x0708090a, Seq: 0x0b0c0d0e},
			nil,
			[]byte{0x21, 0x80, 2, 1, 6, 5, 4, 3, 10, 9, 8, 7, 14, 13, 12, 11},
		},
		{
			"most",
			Header{Kind: Data, Flags: 0xff, Credits: 0xffff, Context: 0xffffffff, Tag: 0x7fffffff, Seq: 0xffffffff},
			nil,
			[]byte{0x21, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff},
		},
		{
			"offer",
			Header{Kind: Offer, Context: 1, Tag: 2, Seq: 3},
			&Extension{Length: 0x0102030405060708, Addr: 0x1112131415161718, Key: 0x2122232425262728, Name: 0x3132333435363738},
			[]byte{
				0x22, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0,
				8, 7, 6, 5, 4, 3, 2, 1, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
				0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31,
			},
		},
		{
			"finish",
			Header{Kind: Finish, Flags: FlagFailed},
			&Extension{Name: 1<<64 - 1},
			append([]byte{0x23, 1}, append(make([]byte, 38), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)...),
		},
	} {
		b := encode(v.h, v.x)
		if !bytes.Equal(b, v.want) {
			t.Errorf("%s: encoded\n% x, want\n% x", v.name, b, v.want)
		}
		h, body, err := Parse(b)
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
			continue
		}
		if d := cmp.Diff(v.h, h); d != "" {
			t.Errorf("%s: header (-want +got)\n%s", v.name, d)
		}
		if v.x == nil {
			if len(body) != 0 {
				t.Errorf("%s: a body of %d bytes", v.name, len(body))
			}
		} else if d := cmp.Diff(*v.x, ParseExtension(body)); d != "" {
			t.Errorf("%s: extension (-want +got)\n%s", v.name, d)
		}
	}
}

// The body of a whole message is what follows the header, and is not copied.
func TestParseBody(t *testing.T) {
	b := append(encode(Header{Kind: Data, Tag: 5}, nil), 1, 2, 3)
	_, body, err := Parse(b)
	if err != nil || !bytes.Equal(body, []byte{1, 2, 3}) || &body[0] != &b[HeaderSize] {
		t.Errorf("body %v, %v", body, err)
	}
}

var note = bytes.Repeat([]byte{7}, NoteSize)

// An offer's note follows its extension, as Outgoing puts it there.
func TestNote(t *testing.T) {
	var o Outgoing
	h := Header{Kind: Offer, Context: 1, Tag: 2}
	o.SetControl(h, Extension{Length: 9})
	o.SetNote(note)
	got, body, err := Parse(append(o.hdr[:o.n:o.n], o.data...))
	h.Flags = FlagNote
	if err != nil || got != h || ParseExtension(body) != (Extension{Length: 9}) || !bytes.Equal(body[ExtensionSize:], note) {
		t.Errorf("%+v, % x, %v", got, body, err)
	}
}

// malformed are messages that no peer of this version sends.
var malformed = []struct {
	name string
	b    []byte
	err  error
}{
	{"empty", nil, errShort},
	{"a byte short of a header", encode(Header{Kind: Data}, nil)[:HeaderSize-1], errShort},
	{"zeros", make([]byte, HeaderSize), errVersion},
	{"a version of tomorrow", with(encode(Header{Kind: Data}, nil), 0, byte(Data)|(version+1)<<4), errVersion},
	{"kind 0", encode(Header{}, nil), errKind},
	{"the kind after the last", encode(Header{Kind: Bye + 1}, &Extension{}), errKind},
	{"the largest kind", encode(Header{Kind: 15}, nil), errKind},
	{"tag -1", encode(Header{Kind: Data, Tag: -1}, nil), errTag},
	{"an offer with the least tag", encode(Header{Kind: Offer, Tag: -1 << 31}, &Extension{}), errTag},
	{"credits with something after them", append(encode(Header{Kind: Credit, Credits: 1}, nil), 0), errExt},
	{"an offer without extension", encode(Header{Kind: Offer}, nil), errExt},
	{"an offer a byte short", encode(Header{Kind: Offer}, &Extension{})[:HeaderSize+ExtensionSize-1], errExt},
	{"an offer a byte long", append(encode(Header{Kind: Offer}, &Extension{}), 0), errExt},
	{"an offer without the note that it has", encode(Header{Kind: Offer, Flags: FlagNote}, &Extension{}), errExt},
	{"an offer with a note that it hasn't", append(encode(Header{Kind: Offer}, &Extension{}), note...), errExt},
	{"an offer with a note a byte long", append(encode(Header{Kind: Offer, Flags: FlagNote}, &Extension{}), make([]byte, NoteSize+1)...), errExt},
	{"a finish without extension", encode(Header{Kind: Finish}, nil), errExt},
	{"a finish a byte long", append(encode(Header{Kind: Finish}, &Extension{}), 0), errExt},
}

func with(b []byte, i int, v byte) []byte { b[i] = v; return b }

func TestMalformed(t *testing.T) {
	for _, v := range malformed {
		_, body, err := Parse(v.b)
		if !errors.Is(err, v.err) || !errors.Is(err, ErrMalformed) || body != nil {
			t.Errorf("%s: body %v, error %v, want %v", v.name, body, err, v.err)
		}
	}
}

// The sequence number is put in last, when the message leaves, and changes
// nothing else.
func TestPutSeq(t *testing.T) {
	b := [HeaderSize]byte(encode(Header{Kind: Data, Flags: 9, Context: 8, Tag: 7, Seq: 6}, nil))
	putSeq(&b, 1<<31+5)
	h, _, err := Parse(b[:])
	if d := cmp.Diff(Header{Kind: Data, Flags: 9, Context: 8, Tag: 7, Seq: 1<<31 + 5}, h); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

// What parses is encoded again to the same bytes, and nothing panics.
func FuzzParse(f *testing.F) {
	for _, v := range malformed {
		f.Add(v.b)
	}
	f.Add(encode(Header{Kind: Data, Context: 1, Tag: 2, Seq: 3}, nil))
	f.Add(append(encode(Header{Kind: Data, Credits: 7}, nil), "payload"...))
	f.Add(encode(Header{Kind: Credit, Credits: 1<<16 - 1}, nil))
	f.Add(encode(Header{Kind: Bye}, nil))
	f.Add(encode(Header{Kind: Offer, Tag: 1<<31 - 1}, &Extension{Length: 1 << 40, Addr: 1 << 47, Key: 1 << 63, Name: 1}))
	f.Add(append(encode(Header{Kind: Offer, Flags: FlagNote}, &Extension{Length: 1}), note...))
	f.Add(encode(Header{Kind: Finish, Flags: FlagFailed}, &Extension{Name: binary.LittleEndian.Uint64([]byte("verbena1"))}))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, body, err := Parse(b)
		credits, context, tag, seq, ok := parseData(b)
		if ok != (err == nil && h.Kind == Data) || ok && (credits != int(h.Credits) || context != h.Context || tag != h.Tag || seq != h.Seq) {
			t.Fatalf("% x: the short way says %d, %d, %d, %v; the long one %+v, %v", b, context, tag, seq, ok, h, err)
		}
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error %v does not wrap ErrMalformed", err)
			}
			return
		}
		again := encode(h, nil)
		if h.Kind == Data || h.Kind == Credit || h.Kind == Bye {
			again = append(again, body...)
		} else {
			x := ParseExtension(body)
			again = append(encode(h, &x), body[ExtensionSize:]...)
		}
		if !bytes.Equal(again, b) {
			t.Fatalf("% x is encoded again as\n% x", b, again)
		}
	})
}
