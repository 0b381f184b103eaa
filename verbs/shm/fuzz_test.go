//go:build linux

package shm

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// Whatever a peer publishes in its ring, in any order: nothing panics, and nothing
// is delivered but what lies in a cell or in a slot. Three bytes are the kind and the
// length of a cell, and four times two that follow are its words, near zero or near
// the largest.
func FuzzCells(f *testing.F) {
	for _, v := range [][]byte{
		{},
		{byte(kindSend), 8, 0, 1, 2, 3, 4, 5, 6, 7, 8},
		{byte(kindSlot), 200, 0, 5, 0, 0, 0, 0, 0, 0, 0, byte(kindSlot), 200, 0, 5, 0},
		{byte(kindRead), 32, 0, 0, 16, 0, 1, 100, 0, 3, 0},
		{byte(kindChunk), 24, 0, 3, 0, 0, 0, 100, 0, 0, 0, byte(kindFailed), 16, 0, 3, 0, 2, 0, 0, 0, 0, 0},
	} {
		f.Add(v)
	}
	const step = 3 + 4*2
	f.Fuzz(func(t *testing.T, b []byte) {
		a, h := newNode(t, Config{Read: Stream}, few), newNode(t, Config{}, few)
		_, ha := join(a, h)
		if !ha.post(t, message(0, 200), 0) {
			t.Fatal("no room")
		}
		var s [step]byte
		for cells := 0; len(b) > 0 && cells < ringCells-2; cells++ {
			clear(s[:])
			b = b[copy(s[:], b):]
			var words [4]uint64
			for i := range words {
				w := int16(binary.LittleEndian.Uint16(s[3+2*i:]))
				words[i] = uint64(int64(w)) // sign and all
				if w&3 == 3 {
					words[i] = uint64(w) << 32
				}
			}
			ha.cellWith(int(binary.LittleEndian.Uint16(s[1:])), uint16(s[0]), words[:]...)
			a.poll()
		}
		for range 4 {
			a.poll()
			h.poll()
		}
		if len(a.got) == 0 || a.got[0].data != string(message(0, 200)) {
			t.Fatal("what came before is not there")
		}
		for _, r := range a.got {
			if len(r.data) > max(cellMax, few.SlotSize) {
				t.Fatalf("a message of %d bytes", len(r.data))
			}
		}
	})
}

// An address parses exactly if it is one, and is encoded again to the same bytes.
func FuzzParseAddr(f *testing.F) {
	f.Add([]byte(addrMagic))
	f.Add(slices.Concat([]byte(addrMagic), make([]byte, len(addr{}.ID)+len(addr{}.Host)+len(addr{}.Token))))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = Reaches(b)
		a, err := parseAddr(b)
		if err != nil {
			return
		}
		if again := slices.Concat([]byte(addrMagic), a.ID[:], a.Host[:], a.Token[:]); string(again) != string(b) {
			t.Fatalf("% x is encoded again as % x", b, again)
		}
	})
}

// Descriptors that come with a message are found, whatever else is there.
func FuzzParseRights(f *testing.F) {
	f.Add(unix.UnixRights(3, 4, 5))
	f.Add(append(unix.UnixRights(3), unix.UnixRights(4)...))
	f.Add([]byte{1, 2, 3})
	odd := append(unix.UnixRights(3), 0, 0, 0, 0)
	odd[0] += 2 // its length
	f.Add(odd)
	f.Fuzz(func(t *testing.T, b []byte) {
		if fds := parseRights(b); 4*len(fds) > len(b) {
			t.Fatalf("%d descriptors in %d bytes", len(fds), len(b))
		}
	})
}
