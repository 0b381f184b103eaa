//go:build linux

package shm

import "sync/atomic"

// The first segment, in this order. A part that one side writes and another
// polls stands 128 bytes from its neighbours: two lines, because the hardware
// fetches lines in pairs.
const (
	segMagic   = 0x31616e6562726576 // "verbena1"
	segVersion = 2

	ringCells = 64
	cellBody  = 120
	cellMax   = 112       // bytes of a message in a cell: Attr.InlineRecv
	maxSend   = 1<<16 - 1 // the length in a cell's word has 16 bits
	cellImm   = 112       // offset of the immediate in a cell's body
	ackEvery  = ringCells / 4

	maxRegions = 1 << 16
	maxReads   = 256

	chunkUnit  = 4 << 10
	chunkUnits = 512 // 2 MiB: larger than a core's L2, see chunks.go
	chunkMost  = 64 << 10

	headerOff = 0
	regionOff = 4096
	readOff   = regionOff + maxRegions*regionSize
	chunkOff  = readOff + maxReads*lineSize
	ringsOff  = chunkOff + chunkUnits*chunkUnit

	lineSize   = 64
	pairSize   = 128
	regionSize = 32
	ringSize   = ringCells*pairSize + 3*pairSize
	pageSize   = 4096
)

// header begins a segment.
type header struct {
	magic   uint64
	version uint64
	nonce   uint64 // random: proves that a process id is the segment's owner (vmread.go)
	_       [104]byte

	// armed holds the Event for which the owner sleeps. The owner stores it
	// and then looks at its rings once more; a sender publishes and then loads
	// it. One of the two sees the other, so no wake-up is lost. The sender
	// that swaps it to None rings the bell, so that only one does.
	armed atomic.Uint32
	_     [124]byte

	// chunkWant is set by the owner that sleeps for want of a free chunk; the
	// reader that frees one takes it and rings.
	chunkWant atomic.Uint32
	_         [124]byte
}

// cell is one message of a ring. Two lines; a message of up to 56 bytes, the
// protocols' header among them, uses only the first.
type cell struct {
	// word publishes the cell: sequence in the low 32 bits (its position plus
	// one, so that what an earlier round left never matches), length in the
	// next 16, kind and flags above. The sender stores it last; the receiver
	// loads it once and believes nothing it has not checked.
	word atomic.Uint64
	body [cellBody]byte
}

// ring is a queue of cells from one peer. It lies in the receiver's segment.
type ring struct {
	cells [ringCells]cell
	// head counts the cells that the receiver has done with. Written by the
	// receiver every ackEvery cells, read by the sender when the ring looks
	// full.
	head atomic.Uint64
	_    [pairSize - 8]byte
	// want is set by a sender that found no room (cells or slots) and sleeps;
	// the receiver takes it when it has made room, and rings the sender's bell.
	want atomic.Uint32
	_    [pairSize - 4]byte
	// back counts the units of the receiver's chunks that the sender has read
	// and given back. Written by the sender for each chunk, read by the receiver
	// when it lacks free ones.
	back atomic.Uint64
	_    [pairSize - 8]byte
}

// region is an entry of the table of registrations. It lies in the owner's
// segment; the owner fills the rest before it stores word.
type region struct {
	// word: generation in the high 32 bits, the reader's ring number plus one
	// in the low 16, regionClosing between. A reader swaps its number in before
	// it copies a piece and out after, so that Close can wait for it, and the
	// owner can take the word back when the reader has died.
	word atomic.Uint64
	addr uint64 // in the owner's address space
	size uint64
	off  uint64 // in the owner's second segment, for memory from Alloc
}

// line is a word on a cache line of its own.
type line struct {
	word atomic.Uint64
	_    [lineSize - 8]byte
}

// pool begins a receive queue in its owner's segment; the slots' owner words
// and then the slots follow.
type pool struct {
	// want is set by a sender that found no slot and sleeps. The owner takes
	// it when slots are reposted, and looks which rings want room.
	want atomic.Uint32
	_    [pairSize - 4]byte
}

// A cell's word.
const (
	wordLenShift  = 32
	wordKindShift = 48

	kindMask   = 0xf
	kindSend   = 1 // a message in the cell
	kindSlot   = 2 // a message in a slot: the cell has the slot's number
	kindRead   = 3 // a peer wants to be streamed to
	kindChunk  = 4 // a chunk for a read of ours
	kindFailed = 5 // a read of ours was refused

	wordSolicited = 1 << 4
	wordImm       = 1 << 5
)

func packWord(pos uint64, n int, kind uint16) uint64 {
	return uint64(uint32(pos+1)) | uint64(n)<<wordLenShift | uint64(kind)<<wordKindShift
}

// Owner words of slots.
const (
	slotFree = 0 // posted: a sender may claim it with its ring number plus one
	slotLent = 0xffffffff
)

func align(n, a int) int { return (n + a - 1) &^ (a - 1) }
