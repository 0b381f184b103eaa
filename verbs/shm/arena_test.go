//go:build linux

package shm

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbena-mpi/verbena/verbs"
)

const arenaPages = 16

// Alloc and Free against a model: what is given out is zeroed, aligned, disjoint,
// as long as asked for, and refused only where no hole is large enough.
func TestArenaModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, err := Open(Config{MaxPeers: 1, Memory: pageSize, AllocMemory: arenaPages * pageSize})
		if err != nil {
			rt.Fatal(err)
		}
		defer d.Close()
		m := arenaModel{d: d}
		rt.Repeat(map[string]func(*rapid.T){
			"alloc": m.alloc,
			"free":  m.free,
			"wrong": m.wrong,
			"":      m.check,
		})
	})
}

type arenaModel struct {
	d     *Device
	pages [arenaPages]int // 0: free, or the number of the block
	list  []block
	last  int
}

type block struct {
	id  int
	mem []byte
}

func (m *arenaModel) alloc(t *rapid.T) {
	n := rapid.OneOf(
		rapid.IntRange(0, 3*pageSize),
		rapid.Map(rapid.IntRange(0, arenaPages+1), func(p int) int { return p * pageSize }),
	).Draw(t, "bytes")
	need := max((n+pageSize-1)/pageSize, 1)
	fits, run := false, 0
	for _, p := range m.pages {
		if p == 0 {
			run++
		} else {
			run = 0
		}
		fits = fits || run >= need
	}
	mem, err := m.d.Alloc(n)
	if !fits {
		if !errors.Is(err, verbs.ErrNoMemory) {
			t.Fatalf("Alloc(%d) without a hole of %d pages: %v", n, need, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("Alloc(%d) with a hole of %d pages: %v", n, need, err)
	}
	if len(mem) != n || cap(mem) != max(n, 1) || address(mem)%64 != 0 {
		t.Fatalf("Alloc(%d): length %d, capacity %d, at %#x", n, len(mem), cap(mem), address(mem))
	}
	if i := bytes.IndexFunc(mem, func(r rune) bool { return r != 0 }); i >= 0 {
		t.Fatalf("Alloc(%d): byte %d is not zero", n, i)
	}
	m.last++
	at := m.d.arena.offset(mem) / pageSize
	for i := range need {
		if m.pages[at+i] != 0 {
			t.Fatalf("Alloc(%d) overlaps block %d", n, m.pages[at+i])
		}
		m.pages[at+i] = m.last
	}
	for i := range mem {
		mem[i] = byte(m.last)
	}
	m.list = append(m.list, block{m.last, mem})
}

func (m *arenaModel) free(t *rapid.T) {
	if len(m.list) == 0 {
		t.Skip("nothing to free")
	}
	i := rapid.IntRange(0, len(m.list)-1).Draw(t, "which")
	b := m.list[i]
	if err := m.d.Free(b.mem[:rapid.IntRange(0, len(b.mem)).Draw(t, "part")]); err != nil {
		t.Fatal(err)
	}
	m.list = append(m.list[:i], m.list[i+1:]...)
	for p := range m.pages {
		if m.pages[p] == b.id {
			m.pages[p] = 0
		}
	}
	if err := m.d.Free(b.mem); !errors.Is(err, verbs.ErrInvalid) {
		t.Fatalf("freed twice: %v", err)
	}
}

// wrong frees what was not allocated.
func (m *arenaModel) wrong(t *rapid.T) {
	for _, mem := range [][]byte{nil, {}, make([]byte, 10)} {
		if err := m.d.Free(mem); !errors.Is(err, verbs.ErrInvalid) {
			t.Fatalf("Free of foreign memory: %v", err)
		}
	}
	for _, b := range m.list {
		if len(b.mem) < 2 {
			continue
		}
		if err := m.d.Free(b.mem[1:]); !errors.Is(err, verbs.ErrInvalid) {
			t.Fatalf("Free of the inside of a block: %v", err)
		}
	}
	if _, err := m.d.Alloc(-1); !errors.Is(err, verbs.ErrInvalid) {
		t.Fatalf("Alloc(-1): %v", err)
	}
}

// check looks whether all blocks have kept their bytes.
func (m *arenaModel) check(t *rapid.T) {
	for _, b := range m.list {
		for i, v := range b.mem {
			if v != byte(b.id) {
				t.Fatalf("byte %d of block %d was changed", i, b.id)
			}
		}
	}
}

// Allocated memory is read directly, wherever in it the registration lies, and
// after it was freed and given out again.
func TestDirectReads(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, _ := join(a, b)
	id := uint64(0)
	read := func(mem []byte) []byte {
		t.Helper()
		id++
		m, err := b.d.Register(mem, verbs.AccessRead)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, len(mem))
		a.read(qa, dst, m, id)
		until(t, "a read", func() bool { _, ok := a.reads[id]; return ok }, a, b)
		if a.reads[id] != verbs.StatusOK {
			t.Fatalf("read: %v", a.reads[id])
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	for round := range 3 {
		var blocks [][]byte
		for i, n := range []int{1, pageSize, 3*pageSize + 5, 1 << 20} {
			mem, err := b.d.Alloc(n)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(mem); !bytes.Equal(got, make([]byte, n)) {
				t.Fatalf("round %d: fresh memory is read as % x…", round, got[:min(n, 16)])
			}
			copy(mem, bytes.Repeat([]byte(fmt.Sprintf("%d/%d ", round, i)), n/4+1))
			blocks = append(blocks, mem)
		}
		for _, mem := range blocks {
			for _, part := range [][]byte{mem, mem[:1], mem[len(mem)-1:], mem[len(mem)/3 : len(mem)/2+1]} {
				if got := read(part); !bytes.Equal(got, part) {
					t.Fatalf("%d bytes of %d: read wrong", len(part), len(mem))
				}
			}
		}
		for _, i := range []int{2, 0, 3, 1} {
			if err := b.d.Free(blocks[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := a.d.count.direct; n != id || a.d.count.stream+a.d.count.copy != 0 {
		t.Errorf("%d of %d reads were direct, %+v", n, id, a.d.count)
	}
}
