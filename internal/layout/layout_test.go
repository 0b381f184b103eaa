package layout

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// described is a layout, and the elements that the description means, one by one.
type described struct {
	name   string
	layout Layout
	err    error
	places []int
}

func strided(count, block, stride int) described {
	l, err := Strided(count, block, stride)
	d := described{fmt.Sprintf("Strided(%d, %d, %d)", count, block, stride), l, err, nil}
	for i := range count {
		for k := range block {
			d.places = append(d.places, i*stride+k)
		}
	}
	return d
}

func subarray(shape, start, size []int) described {
	l, err := Subarray(shape, start, size)
	d := described{fmt.Sprintf("Subarray(%v, %v, %v)", shape, start, size), l, err, nil}
	all := 1
	for _, n := range shape {
		all *= n
	}
	for at := range all {
		inside := true
		rest := at
		for i := len(shape) - 1; i >= 0; i-- {
			x := rest % shape[i]
			rest /= shape[i]
			inside = inside && x >= start[i] && x < start[i]+size[i]
		}
		if inside {
			d.places = append(d.places, at)
		}
	}
	return d
}

func blocks(lengths, offsets []int) described {
	l, err := Blocks(lengths, offsets)
	d := described{fmt.Sprintf("Blocks(%v, %v)", lengths, offsets), l, err, nil}
	for i, at := range offsets {
		for k := range lengths[i] {
			d.places = append(d.places, at+k)
		}
	}
	return d
}

func indexed(block int, offsets []int) described {
	l, err := Indexed(block, offsets)
	lengths := slices.Repeat([]int{block}, len(offsets))
	d := blocks(lengths, offsets)
	d.name, d.layout, d.err = fmt.Sprintf("Indexed(%d, %v)", block, offsets), l, err
	return d
}

// draw draws a description of any kind.
func draw(t *rapid.T) described {
	small := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
	switch small("kind", 3) {
	case 0:
		return strided(small("count", 6), small("block", 5), small("stride", 9))
	case 1:
		n := rapid.IntRange(1, 4).Draw(t, "dimensions")
		shape, start, size := make([]int, n), make([]int, n), make([]int, n)
		for i := range n {
			shape[i] = small("shape", 5)
			start[i] = small("start", shape[i])
			size[i] = small("size", shape[i]-start[i])
		}
		return subarray(shape, start, size)
	case 2:
		return indexed(small("block", 4), rapid.SliceOfN(rapid.IntRange(0, 30), 0, 8).Draw(t, "offsets"))
	}
	lengths := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 8).Draw(t, "lengths")
	offsets := rapid.SliceOfN(rapid.IntRange(0, 30), len(lengths), len(lengths)).Draw(t, "offsets")
	return blocks(lengths, offsets)
}

// check compares a layout with its places, packing and unpacking part bytes of it.
func (d described) check(size, part int) error {
	l := &d.layout
	if d.err != nil {
		return fmt.Errorf("%s: %w", d.name, d.err)
	}
	extent := 0
	twice := false
	seen := map[int]bool{}
	for _, at := range d.places {
		extent = max(extent, at+1)
		twice = twice || seen[at]
		seen[at] = true
	}
	if l.Elements() != len(d.places) || l.Extent() != extent || (l.Overlap() != nil) != twice {
		return fmt.Errorf("%s: %d elements, extent %d, overlap %v; want %d, %d, %v",
			d.name, l.Elements(), l.Extent(), l.Overlap(), len(d.places), extent, twice)
	}
	if start, n, ok := l.Contiguous(); ok {
		for i, at := range d.places {
			if n != len(d.places) || at != start+i {
				return fmt.Errorf("%s is not the %d from %d", d.name, n, start)
			}
		}
	} else if consecutive(d.places) {
		return fmt.Errorf("%s lies together, and doesn't say so", d.name)
	}
	buf, whole := make([]byte, extent*size), []byte{}
	for i := range buf {
		buf[i] = byte(i*7 + i/256)
	}
	for _, at := range d.places {
		whole = append(whole, buf[at*size:(at+1)*size]...)
	}
	part = min(part, len(whole)+3)
	msg := bytes.Repeat([]byte{0xee}, part)
	n := l.Pack(msg, buf, size)
	if n != min(part, len(whole)) || !bytes.Equal(msg[:n], whole[:n]) || bytes.Count(msg[n:], []byte{0xee}) != part-n {
		return fmt.Errorf("%s: %d of %d bytes packed: %v; want %v", d.name, n, part, msg, whole)
	}
	if twice {
		return nil
	}
	want := bytes.Repeat([]byte{0xdd}, len(buf))
	for i := range n {
		at := d.places[i/size]*size + i%size
		want[at] = buf[at]
	}
	got := bytes.Repeat([]byte{0xdd}, len(buf))
	if m := l.Unpack(got, msg, size); m != n || !bytes.Equal(got, want) {
		return fmt.Errorf("%s: %d of %d bytes unpacked: %s", d.name, m, part, cmp.Diff(want, got))
	}
	return nil
}

func consecutive(places []int) bool {
	for i, at := range places {
		if at != places[0]+i {
			return false
		}
	}
	return true
}

var elementSizes = []int{1, 2, 3, 4, 8, 12, 16, 24}

// Every layout, against its elements one by one: whole messages, and such that end
// anywhere (rules 13 and 15).
func TestOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		size := rapid.SampledFrom(elementSizes).Draw(t, "size")
		part := rapid.IntRange(0, 3+size*len(d.places)).Draw(t, "part")
		for _, n := range []int{part, math.MaxInt} {
			if err := d.check(size, n); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzBlocks has lengths and offsets, two bytes a block.
func FuzzBlocks(f *testing.F) {
	f.Add([]byte{1, 0, 1, 4, 1, 8}, byte(8), uint16(20))
	f.Add([]byte{3, 9, 0, 200, 2, 12, 4, 0}, byte(1), uint16(0))
	f.Add([]byte{2, 3, 2, 4}, byte(4), uint16(9))
	f.Fuzz(func(t *testing.T, b []byte, size byte, part uint16) {
		lengths, offsets := make([]int, len(b)/2), make([]int, len(b)/2)
		for i := range lengths {
			lengths[i], offsets[i] = int(b[2*i]), int(b[2*i+1])
		}
		if err := blocks(lengths, offsets).check(1+int(size%32), int(part)); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzSubarray has a dimension in three bytes.
func FuzzSubarray(f *testing.F) {
	f.Add([]byte{4, 1, 2, 5, 0, 5}, byte(8), uint16(30))
	f.Add([]byte{3, 0, 3, 3, 1, 1, 7, 2, 5}, byte(3), uint16(7))
	f.Fuzz(func(t *testing.T, b []byte, size byte, part uint16) {
		n := min(len(b)/3, 5)
		if n == 0 {
			return
		}
		shape, start, extent := make([]int, n), make([]int, n), make([]int, n)
		for i := range n {
			shape[i] = int(b[3*i] % 8)
			start[i] = int(b[3*i+1]) % (shape[i] + 1)
			extent[i] = int(b[3*i+2]) % (shape[i] - start[i] + 1)
		}
		if err := subarray(shape, start, extent).check(1+int(size%32), int(part)); err != nil {
			t.Fatal(err)
		}
	})
}

// As few loops as will do: what lies together is moved at once.
func TestCoalesced(t *testing.T) {
	for _, v := range []struct {
		d     described
		loops int
		block int
		runs  int
	}{
		{strided(5, 3, 3), 0, 15, 0},
		{strided(1, 3, 100), 0, 3, 0},
		{strided(5, 1, 9), 1, 1, 0},
		{subarray([]int{4, 6}, []int{1, 0}, []int{2, 6}), 0, 12, 0},
		{subarray([]int{4, 6}, []int{0, 1}, []int{4, 5}), 1, 5, 0},
		{subarray([]int{3, 4, 5}, []int{0, 0, 2}, []int{3, 4, 1}), 1, 1, 0}, // one column through all planes
		{subarray([]int{3, 4, 5}, []int{0, 1, 2}, []int{3, 2, 2}), 2, 2, 0},
		{subarray([]int{3, 4, 5}, []int{1, 1, 1}, []int{1, 1, 1}), 0, 1, 0},
		{indexed(2, []int{4, 6, 8, 20}), 0, 0, 2},
		{indexed(2, []int{4, 6, 8}), 0, 6, 0},
		{indexed(0, []int{4, 6, 8}), 0, 0, 0},
	} {
		l := v.d.layout
		if len(l.dims) != v.loops || l.block != v.block || len(l.runs) != v.runs {
			t.Errorf("%s: %+v", v.d.name, l)
		}
	}
}

func TestBadDescriptions(t *testing.T) {
	get := func(_ Layout, err error) error { return err }
	for _, v := range []struct {
		err  error
		want string
	}{
		{get(Strided(-1, 1, 1)), "negative"},
		{get(Strided(1, 1, -1)), "negative"},
		{get(Strided(1<<40, 1, 1<<40)), "more elements than can be"},
		{get(Strided(1<<32, 1<<31, 0)), "more elements than can be"},
		{get(Strided(2, 1, math.MaxInt)), "more elements than can be"},
		{get(Subarray([]int{4}, []int{0, 0}, []int{4})), "1 dimensions, with 2 starts and 1 sizes"},
		{get(Subarray(nil, nil, nil)), "no dimensions"},
		{get(Subarray([]int{4, 4}, []int{0, 3}, []int{4, 2})), "dimension 1: 2 from 3 of 4"},
		{get(Subarray([]int{4, 4}, []int{0, -1}, []int{4, 2})), "negative"},
		{get(Subarray([]int{4}, []int{math.MaxInt}, []int{1})), "dimension 0"},
		{get(Subarray([]int{1 << 32, 1 << 32}, []int{0, 0}, []int{1, 1})), "more elements than can be"},
		{get(Indexed(2, []int{0, -1})), "block 1"},
		{get(Indexed(2, []int{math.MaxInt - 1})), "more elements than can be"},
		{get(Blocks([]int{1}, []int{1, 2})), "1 lengths and 2 offsets"},
		{get(Blocks([]int{math.MaxInt, math.MaxInt}, []int{0, 0})), "more elements than can be"},
	} {
		if v.err == nil || !strings.Contains(v.err.Error(), v.want) {
			t.Errorf("%v; want %q", v.err, v.want)
		}
	}
}

// Lengths in bytes are 64 bits, and no more.
func TestBytes(t *testing.T) {
	for _, v := range []struct {
		count, block, stride, size int
		message, buffer            int
		ok                         bool
	}{
		{3, 2, 10, 8, 48, 176, true},
		{0, 0, 0, 8, 0, 0, true},
		{1 << 31, 1, 2, 8, 1 << 34, 1<<35 - 8, true},
		{1 << 31, 1, 1 << 31, 1, 1 << 31, 1<<62 - 1<<31 + 1, true},
		{1 << 31, 1, 1 << 31, 8, 0, 0, false},
		{1 << 31, 1 << 31, 0, 8, 0, 0, false},
	} {
		l, err := Strided(v.count, v.block, v.stride)
		message, buffer, ok := l.Bytes(v.size)
		if err != nil || ok != v.ok || ok && (message != v.message || buffer != v.buffer) {
			t.Errorf("%+v: %d, %d, %v, %v", v, message, buffer, ok, err)
		}
	}
}

// A layout keeps nothing of what it was made from.
func TestImmutable(t *testing.T) {
	offsets := []int{7, 3, 5}
	d := indexed(1, slices.Clone(offsets))
	l, err := Indexed(1, offsets)
	clear(offsets)
	d.layout, d.err = l, err
	if err := d.check(8, math.MaxInt); err != nil {
		t.Error(err)
	}
}

// Moving allocates nothing.
func TestNoAllocations(t *testing.T) {
	buf, msg := make([]byte, 1<<16), make([]byte, 1<<16)
	for _, d := range []described{
		strided(100, 1, 9), subarray([]int{4, 5, 6, 7}, []int{1, 1, 1, 1}, []int{2, 3, 4, 5}), indexed(2, []int{9, 4, 1}),
	} {
		if n := testing.AllocsPerRun(100, func() {
			d.layout.Pack(msg, buf, 8)
			d.layout.Unpack(buf, msg, 8)
		}); n != 0 {
			t.Errorf("%s: %v allocations", d.name, n)
		}
	}
}

// BenchmarkMove packs and unpacks 1 MiB of float64, in blocks of so many elements, two
// block lengths apart, beside a copy.
func BenchmarkMove(b *testing.B) {
	const total, size = 1 << 17, 8
	msg := make([]byte, total*size)
	measure := func(name string, buf []byte, move func(buf []byte)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(total * size)
			for b.Loop() {
				move(buf)
			}
		})
	}
	measure("copy", make([]byte, total*size), func(buf []byte) { copy(msg, buf) })
	for _, block := range []int{1, 2, 8, 64, 512} {
		for _, apart := range []int{2, 16} {
			l, err := Strided(total/block, block, block*apart)
			if err != nil {
				b.Fatal(err)
			}
			buf := make([]byte, l.Extent()*size)
			name := fmt.Sprintf("block=%d/apart=%d/", block, block*apart)
			measure(name+"pack", buf, func(buf []byte) { l.Pack(msg, buf, size) })
			measure(name+"unpack", buf, func(buf []byte) { l.Unpack(buf, msg, size) })
		}
	}
}
