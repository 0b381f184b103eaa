package verbstest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/verbena-mpi/verbena/verbs"
)

// spec is a planned message. Its bytes follow from the sender's seed and its
// index, so that the receiver can tell them without being told.
type spec struct {
	hdr, data int // bytes
	imm       uint32
	flags     verbs.Flags
}

func (s spec) size() int { return s.hdr + s.data }

// fill writes the pattern of a seed.
func fill(p []byte, seed uint64) {
	x := seed | 1
	for len(p) >= 8 {
		x = x*6364136223846793005 + 1442695040888963407
		binary.LittleEndian.PutUint64(p, x)
		p = p[8:]
	}
	for i := range p {
		x = x*6364136223846793005 + 1442695040888963407
		p[i] = byte(x >> 56)
	}
}

// differs says where p is not the pattern of a seed, as an error.
func differs(p []byte, seed uint64) error {
	want := make([]byte, len(p))
	fill(want, seed)
	if bytes.Equal(p, want) {
		return nil
	}
	at := 0
	for p[at] == want[at] {
		at++
	}
	bad := 0
	for i := range p {
		if p[i] != want[i] {
			bad++
		}
	}
	return fmt.Errorf("%d of %d bytes are wrong, the first at %d: %#x, want %#x", bad, len(p), at, p[at], want[at])
}

// scribble spoils memory that the device must not look at any more.
func scribble(p []byte) {
	for i := range p {
		p[i] = 0xee
	}
}

// randomSpec plans a message that e can send: half of them short.
func randomSpec(rng *rand.Rand, e *end) spec {
	limit := e.side.shape.slotSize
	if rng.IntN(2) == 0 {
		limit = min(limit, 2*max(e.qp.Inline(), 64))
	}
	var s spec
	size := rng.IntN(limit + 1)
	switch rng.IntN(4) {
	case 0:
		s.hdr = size
	case 1:
		s.data = size
	default:
		s.hdr = rng.IntN(min(size, 64) + 1)
		s.data = size - s.hdr
	}
	if size <= e.qp.Inline() && rng.IntN(4) != 0 {
		s.flags |= verbs.Inline
	}
	if rng.IntN(3) == 0 {
		s.flags |= verbs.Signaled
	}
	if rng.IntN(3) == 0 {
		s.flags |= verbs.WithImm
		s.imm = rng.Uint32()
	}
	if rng.IntN(5) == 0 {
		s.flags |= verbs.FlagSolicited
	}
	return s
}
