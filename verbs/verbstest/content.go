package verbstest

import (
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var contentTests = []test{
	{"HdrAndData", testHdrAndData},
	{"ZeroLength", testZeroLength},
	{"Immediate", testImmediate},
	{"EverySmallSize", testEverySmallSize},
	{"LargestMessage", testLargestMessage},
}

// Header only, data only, both: inline where it fits and from memory.
func testHdrAndData(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	for _, s := range []spec{
		{hdr: 16},
		{data: 16},
		{hdr: 16, data: 16},
		{hdr: 1, data: 1},
		{hdr: 13, data: 29},
		{hdr: 2000},
		{data: 2000},
		{hdr: 16, data: 2000},
		{hdr: 1000, data: 1},
		{hdr: 7, data: 1001},
	} {
		for _, flags := range []verbs.Flags{0, verbs.Signaled} {
			s.flags = flags
			a.plan(s)
			if s.size() <= a.qp.Inline() {
				s.flags |= verbs.Inline
				a.plan(s)
			}
		}
	}
	r.exchange(a, b)
}

func testZeroLength(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	for i := range 100 {
		s := spec{}
		if i%2 == 0 {
			s.flags |= verbs.Inline
		}
		if i%3 == 0 {
			s.flags |= verbs.WithImm
			s.imm = uint32(i)
		}
		a.plan(s)
		b.plan(s)
	}
	r.exchange(a, b)
}

// The immediate arrives when it was asked for; without, the flag is clear.
func testImmediate(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	for _, imm := range []uint32{0, 1, 0xdeadbeef, 1<<32 - 1} {
		for _, size := range []int{0, 8, 1500} {
			a.plan(
				spec{data: size, imm: imm, flags: verbs.WithImm},
				spec{data: size, imm: imm},
				spec{data: size, imm: imm, flags: verbs.WithImm | verbs.FlagSolicited},
				spec{data: size, flags: verbs.FlagSolicited},
			)
		}
	}
	r.exchange(a, b)
}

// All sizes around the borders of lines, cells and inline limits.
func testEverySmallSize(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{inline: 128})
	for size := range 600 {
		s := spec{hdr: min(size, 16), data: size - min(size, 16)}
		if size <= a.qp.Inline() && size%2 == 0 {
			s.flags |= verbs.Inline
		}
		a.plan(s)
	}
	r.exchange(a, b)
}

// A message as large as the receiver's slot, and one byte less.
func testLargestMessage(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{slotSize: 64 << 10, slots: 8, depth: 8})
	size := a.side.shape.slotSize
	for range 10 {
		a.plan(spec{data: size}, spec{hdr: 16, data: size - 17}, spec{hdr: 16, data: size - 16})
	}
	r.exchange(a, b)
}
