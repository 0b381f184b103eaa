package harness

import "encoding/binary"

// A pattern is a sequence of words that depends on its seed and on the place
// in the message, so that bytes of another message, or in another place, do
// not pass for the right ones.

const stride = 0x9E3779B97F4A7C15 // odd, with bits set all over

// seed mixes what identifies a message.
func seed(size, iteration, sender, index int) uint64 {
	var x uint64
	for _, n := range [...]int{size, iteration, sender, index} {
		x = (x + uint64(n) + 1) * stride
		x ^= x >> 32
	}
	return x
}

// fill writes the pattern, with each word xored with flip.
func fill(mem []byte, seed, flip uint64) {
	word := seed
	for ; len(mem) >= 8; mem = mem[8:] {
		binary.LittleEndian.PutUint64(mem, word^flip)
		word += stride
	}
	for i := range mem {
		mem[i] = byte((word ^ flip) >> (8 * i))
	}
}

// poison writes the complement of the pattern: whichever byte does not arrive
// differs from the one that was expected.
func poison(mem []byte, seed uint64) { fill(mem, seed, ^uint64(0)) }

// mismatch returns the index of the first byte that is not the pattern's, or
// -1.
func mismatch(mem []byte, seed uint64) int {
	word, at := seed, 0
	for ; len(mem)-at >= 8; at += 8 {
		if binary.LittleEndian.Uint64(mem[at:]) != word {
			break
		}
		word += stride
	}
	for i, b := range mem[at:] {
		if b != byte(word>>(8*i)) {
			return at + i
		}
	}
	return -1
}
