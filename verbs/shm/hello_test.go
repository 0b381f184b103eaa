//go:build linux

package shm

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// greeting is one that passes all checks.
func greeting() hello {
	return hello{
		Magic: segMagic, Version: helloVersion, From: deviceID{1, 2, 3}, Proof: token{4}.hash(), Local: 5, Remote: 6,
		Ring: 7, Pool: poolInfo{Off: ringsOff + 16*ringSize, Slots: 8, SlotSize: 1000},
		SegSize: 64 << 20, AllocSize: 1 << 30, Nonce: 9, NonceAddr: 10,
	}
}

func TestHello(t *testing.T) {
	want := greeting()
	got, err := decodeHello(want.encode())
	if d := cmp.Diff(want, got, cmp.AllowUnexported(hello{})); d != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	// A refusal, or another version, says nothing that is checked.
	for _, h := range []hello{
		{Magic: segMagic, Version: helloVersion, Status: refusedLabel},
		{Magic: segMagic, Version: helloVersion + 1},
	} {
		if got, err := decodeHello(h.encode()); err != nil || got != h {
			t.Errorf("%+v: %+v, %v", h, got, err)
		}
	}
}

func TestHelloMalformed(t *testing.T) {
	for _, v := range []struct {
		name   string
		change func(*hello)
	}{
		{"magic", func(h *hello) { h.Magic++ }},
		{"segment too small for its table", func(h *hello) { h.SegSize = ringsOff - 1 }},
		{"segment of negative size", func(h *hello) { h.SegSize = -1 }},
		{"segment of 2⁴³ bytes", func(h *hello) { h.SegSize = 1 << 43 }},
		{"second segment of negative size", func(h *hello) { h.AllocSize = -1 }},
		{"second segment of 2⁴⁸ bytes", func(h *hello) { h.AllocSize = 1 << 48 }},
		{"ring outside the segment", func(h *hello) { h.Ring = uint32((h.SegSize - ringsOff) / ringSize) }},
		{"the last ring number", func(h *hello) { h.Ring = 1<<32 - 1 }},
		{"no slots", func(h *hello) { h.Pool.Slots = 0 }},
		{"2³²−1 slots", func(h *hello) { h.Pool.Slots = 1<<32 - 1 }},
		{"slots of no size", func(h *hello) { h.Pool.SlotSize = 0 }},
		{"slots of 64 KiB", func(h *hello) { h.Pool.SlotSize = 1 << 16 }},
		{"slots that don't begin on a line", func(h *hello) { h.Pool.Off += 8 }},
		{"slots outside the segment", func(h *hello) { h.Pool.Off = uint64(h.SegSize) }},
		{"slots that end outside", func(h *hello) { h.Pool.Off = uint64(h.SegSize) - 4096 }},
		{"slots at 2⁶⁴−64", func(h *hello) { h.Pool.Off = 1<<64 - 64 }},
	} {
		h := greeting()
		v.change(&h)
		if _, err := decodeHello(h.encode()); err == nil {
			t.Errorf("%s: no error", v.name)
		}
	}
	all := greeting()
	b := all.encode()
	for _, b := range [][]byte{nil, b[:1], b[:len(b)-1], append(bytes.Clone(b), 0), append(bytes.Clone(b), b...)} {
		if _, err := decodeHello(b); err == nil {
			t.Errorf("%d bytes: no error", len(b))
		}
	}
}

// A greeting either doesn't decode, or says nothing that leads outside the
// segment that it describes.
func FuzzDecodeHello(f *testing.F) {
	h := greeting()
	f.Add(h.encode())
	f.Add([]byte{})
	h.Status = refusedVersion
	f.Add(h.encode())
	h = greeting()
	h.Pool.Slots, h.Pool.SlotSize = 1<<20, 1<<16-1
	f.Add(h.encode())
	h.SegSize = 1 << 42
	f.Add(h.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err != nil {
			return
		}
		if !bytes.Equal(h.encode(), b) && h == (hello{}) {
			t.Fatal("nothing was decoded")
		}
		if h.Status != refusedNot || h.Version != helloVersion {
			return
		}
		if end := ringsOff + (int64(h.Ring)+1)*ringSize; end > h.SegSize {
			t.Fatalf("ring %d ends at %d of %d", h.Ring, end, h.SegSize)
		}
		slotsOff, stride, size := h.Pool.layout()
		if h.Pool.Off > uint64(h.SegSize) || size < 0 || uint64(h.SegSize)-h.Pool.Off < uint64(size) {
			t.Fatalf("slots at %d of %d bytes, in a segment of %d", h.Pool.Off, size, h.SegSize)
		}
		if slotsOff < pairSize+4*int(h.Pool.Slots) || stride < int(h.Pool.SlotSize) || slotsOff+int(h.Pool.Slots)*stride != size {
			t.Fatalf("%d slots of %d bytes: first at %d, stride %d, size %d", h.Pool.Slots, h.Pool.SlotSize, slotsOff, stride, size)
		}
	})
}

func TestParseAddr(t *testing.T) {
	d := newNode(t, Config{}, few).d
	a, err := parseAddr(d.Addr())
	if err != nil || a.ID != d.id || a.Token != d.token || a.Host != thisHost() || !Reaches(d.Addr()) {
		t.Errorf("%+v, %v", a, err)
	}
	other := d.Addr()
	other[len(addrMagic)+len(a.ID)]++
	if Reaches(other) {
		t.Error("another host is reached")
	}
	for _, b := range [][]byte{nil, []byte(addrMagic), d.Addr()[1:], d.Addr()[:len(other)-1], append(d.Addr(), 0)} {
		if _, err := parseAddr(b); err == nil || Reaches(b) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
	// The token stays out of errors, which are logged.
	if _, err := parseAddr(append(d.Addr(), 0)); bytes.Contains([]byte(err.Error()), d.token[:]) {
		t.Errorf("the error tells the token: %v", err)
	}
}
