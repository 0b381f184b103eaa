package harness

import (
	"bytes"
	"testing"
)

func TestPatternFindsEachByte(t *testing.T) {
	for _, size := range []int{1, 2, 7, 8, 9, 64, 1000} {
		mem := make([]byte, size)
		s := seed(size, 3, 1, 0)
		fill(mem, s, 0)
		if at := mismatch(mem, s); at != -1 {
			t.Fatalf("size %d: byte %d is said to be wrong", size, at)
		}
		for i := range mem {
			mem[i] ^= 0x10
			if at := mismatch(mem, s); at != i {
				t.Errorf("size %d: byte %d flipped, %d found", size, i, at)
			}
			mem[i] ^= 0x10
		}
	}
}

func TestPoisonDiffersEverywhere(t *testing.T) {
	s := seed(100, 0, 0, 0)
	right, poisoned := make([]byte, 100), make([]byte, 100)
	fill(right, s, 0)
	poison(poisoned, s)
	for i := range right {
		if right[i] == poisoned[i] {
			t.Errorf("byte %d is the same", i)
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	seen := make(map[uint64]bool)
	for size := range 8 {
		for i := range 100 {
			for sender := range 2 {
				for index := range 64 {
					seen[seed(size, i, sender, index)] = true
				}
			}
		}
	}
	if len(seen) != 8*100*2*64 {
		t.Errorf("%d seeds for %d messages", len(seen), 8*100*2*64)
	}
}

func TestBuffer(t *testing.T) {
	b := newBuffer(func(n int) []byte { return make([]byte, n) }, 10000)
	for _, size := range []int{1, 64, 4096, 10000} {
		mem := b.message(size)
		if len(mem) != size || cap(mem) != size {
			t.Fatalf("size %d: %d bytes, capacity %d", size, len(mem), cap(mem))
		}
		if address(mem)%4096 != 0 {
			t.Errorf("size %d: not on a page boundary", size)
		}
		copy(mem, bytes.Repeat([]byte{1}, size))
		if err := b.checkGuards(); err != nil {
			t.Errorf("size %d: %v", size, err)
		}
		for _, at := range []int{b.start - 1, b.start - guardSize, b.start + size, b.start + size + guardSize - 1} {
			b.raw[at]++
			if b.checkGuards() == nil {
				t.Errorf("size %d: a write at offset %d was not seen", size, at-b.start)
			}
			b.raw[at]--
		}
	}
}
