package comm

import "github.com/verbena-mpi/verbena/internal/match"

// record is an unexpected message in memory, and what lies behind it: the room for
// its bytes, or its detail. So a short message takes 56 bytes besides its own.
type record[B any] struct {
	unexpected
	behind B
}

// recordKind is a type of records.
type recordKind struct {
	behind int                     // bytes behind the message
	size   int                     // of a record
	more   func(n int) *unexpected // makes a list of n of them
}

// recordKinds are all there are, those for bytes in order of size. Short bodies cost
// no more than 7 bytes of waste, others up to a half of what they are.
var recordKinds = [...]recordKind{
	kindOf[[8]byte](), kindOf[[16]byte](), kindOf[[24]byte](), kindOf[[32]byte](),
	kindOf[[40]byte](), kindOf[[48]byte](), kindOf[[56]byte](), kindOf[[64]byte](),
	kindOf[[80]byte](), kindOf[[96]byte](), kindOf[[128]byte](), kindOf[[192]byte](),
	kindOf[[256]byte](), kindOf[[384]byte](), kindOf[[512]byte](), kindOf[[768]byte](),
	kindOf[[mostBehind]byte](),
	detailed: kindOf[detail](),
}

const (
	detailed    = 17       // the kind with a detail
	mostBehind  = 1 << 10  // the longest body that lies behind a record
	chargedFlag = 1 << 7   // beside the kind: the message is on its sender's account
	kindMask    = 1<<5 - 1 // the kind without
	slabMost    = 64 << 10 // bytes of records that are made at once
	slabLeast   = slabMost >> 5
	spareMost   = 16 // buffers of longer messages that are kept
)

// kinds has for each eight bytes of length the kind of records with room for it.
var kinds = func() (k [mostBehind/8 + 1]uint8) {
	kind := 0
	for i := range k {
		if i*8 > recordKinds[kind].behind {
			kind++
		}
		k[i] = uint8(kind)
	}
	return k
}()

// kindFor is the kind of records with room for a body of n bytes, up to mostBehind.
func kindFor(n int) uint8 { return kinds[(n+7)/8] }

func (u *unexpected) kind() uint8 {
	label, _ := u.msg.Label()
	return label & kindMask
}

func (u *unexpected) charged() bool {
	label, _ := u.msg.Label()
	return label&chargedFlag != 0
}

func (u *unexpected) setCharged(on bool) {
	label, size := u.msg.Label()
	label &^= chargedFlag
	if on {
		label |= chargedFlag
	}
	u.msg.SetLabel(label, size)
}

// setShort copies the body of a message that lies behind its record.
func (u *unexpected) setShort(body []byte) {
	label, _ := u.msg.Label()
	u.msg.SetLabel(label, uint16(len(body)))
	copy(u.short(), body)
}

// memory is what the record takes, with a buffer of its own.
func (u *unexpected) memory() int {
	n := recordKinds[u.kind()].size
	if d := u.detail(); d != nil {
		n += cap(d.data)
	}
	return n
}

// records are those of one world that are out of use, by kind. They are made many at
// once, and used again: what one flood has left, the next one takes.
type records struct {
	limit  int // bytes that all may take, before idle ones of other kinds are given up
	free   [len(recordKinds)]*unexpected
	slab   [len(recordKinds)]int // bytes that are made next
	made   int                   // bytes of all
	idle   int                   // bytes of those that are free
	spares [][]byte              // large buffers of messages that were taken
}

// get is a record for a message with this key.
func (s *records) get(kind uint8, key match.Key) *unexpected {
	if s.free[kind] == nil {
		s.grow(kind)
	}
	u := s.free[kind]
	s.free[kind] = u.msg.Unlink()
	s.idle -= recordKinds[kind].size
	u.msg.SetKey(key)
	u.msg.SetLabel(kind, 0)
	return u
}

// put takes a record out of use.
func (s *records) put(u *unexpected) {
	kind := u.kind()
	u.msg.Link(s.free[kind])
	s.free[kind] = u
	s.idle += recordKinds[kind].size
}

// grow makes records of a kind: the more there are, the more at once.
func (s *records) grow(kind uint8) {
	k := recordKinds[kind]
	bytes := max(s.slab[kind], slabLeast)
	if s.made+bytes > s.limit && s.idle > s.made/8 {
		s.trim()
	}
	n := bytes / k.size
	s.free[kind] = k.more(n)
	s.made += n * k.size
	s.idle += n * k.size
	s.slab[kind] = min(2*bytes, slabMost)
}

// trim leaves idle records to the collector.
func (s *records) trim() {
	clear(s.free[:])
	clear(s.slab[:])
	s.made -= s.idle
	s.idle = 0
}

// spare is an empty buffer for n bytes: one that was kept and isn't far too large, or
// a new one.
func (s *records) spare(n int) []byte {
	for i, b := range s.spares {
		if cap(b) >= n && cap(b) <= 4*n {
			last := len(s.spares) - 1
			s.spares[i], s.spares[last] = s.spares[last], nil
			s.spares = s.spares[:last]
			return b
		}
	}
	return make([]byte, 0, n)
}

func (s *records) keepSpare(b []byte) {
	if b != nil && len(s.spares) < spareMost {
		s.spares = append(s.spares, b[:0])
	}
}
