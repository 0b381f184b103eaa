//go:build linux

package shm

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// A key: generation in the high 32 bits, keyArena, the entry's number below.
const (
	keyArena = 1 << 31
	keyEntry = keyArena - 1
)

// A region's word, besides the generation.
const (
	regionReader  = 0xffff
	regionClosing = 1 << 16
	regionTaken   = 1 << 17 // see verbs.Taker
)

// regions is the table of this device's registrations. Entries are used from the
// first on, so that the pages of those that were never needed stay untouched.
type regions struct {
	table []region
	mem   [][]byte // of the entries that have been used
	gen   uint32
	free  []int32
}

func (r *regions) init(seg []byte) {
	r.table = views[region](seg, regionOff, maxRegions)
}

// entry takes a free entry, the one that was given back last: its line is in the
// cache. It says no if there is none.
func (r *regions) entry() (i int32, ok bool) {
	if last := len(r.free) - 1; last >= 0 {
		i = r.free[last]
		r.free = r.free[:last]
		return i, true
	}
	if len(r.mem) == maxRegions {
		return 0, false
	}
	r.mem = append(r.mem, nil)
	return int32(len(r.mem) - 1), true
}

// mr is a registration. One for local use only has key 0.
type mr struct {
	dev  *Device
	addr uint64
	key  uint64
}

func (m *mr) Addr() uint64 { return m.addr }
func (m *mr) Key() uint64  { return m.key }

// Register implements verbs.Device. It costs nothing but the entry: reads
// through memory need no preparation.
func (d *Device) Register(mem []byte, a verbs.Access) (verbs.MR, error) {
	if d.closed {
		return nil, verbs.ErrClosed
	}
	m := &mr{dev: d, addr: address(mem)}
	if a&verbs.AccessRead == 0 {
		return m, nil
	}
	r := &d.regions
	i, ok := r.entry()
	if !ok {
		return nil, fmt.Errorf("%w: shm: %d registrations are in use", verbs.ErrNoMemory, maxRegions)
	}
	if r.gen++; r.gen == 0 {
		r.gen = 1
	}
	m.key = uint64(r.gen)<<32 | uint64(i)
	e := &r.table[i]
	e.addr, e.size, e.off = m.addr, uint64(len(mem)), 0
	if off := d.arena.offset(mem); off >= 0 {
		m.key |= keyArena
		e.off = uint64(off)
	}
	r.mem[i] = mem
	// A reader that finds this word finds addr, size and off.
	e.word.Store(uint64(r.gen) << 32)
	return m, nil
}

// Close implements verbs.MR. A reader holds the region only while it copies a
// piece, so the wait is short unless the reader is stopped; it ends when the
// reader dies.
func (m *mr) Close() error {
	if m.key == 0 {
		return nil
	}
	d := m.dev
	i := m.key & keyEntry
	e := &d.regions.table[i]
	if d.closed || e.word.Load()>>32 != m.key>>32 {
		return verbs.ErrClosed
	}
	d.regions.mem[i] = nil // what is being streamed fails (serve.go)
	for spins := 0; ; spins++ {
		w := e.word.Load()
		if w&regionReader == 0 {
			if e.word.CompareAndSwap(w, 0) {
				break
			}
			continue
		}
		e.word.Or(regionClosing) // no further piece
		if d.attention.Load() {
			d.attend() // the reader's death, perhaps
		}
		if !d.reads(uint32(w & regionReader)) {
			e.word.And(^uint64(regionReader))
			continue
		}
		if runtime.Gosched(); spins > 1000 {
			time.Sleep(50 * time.Microsecond)
		}
	}
	d.regions.free = append(d.regions.free, int32(i))
	m.key = 0
	return nil
}

// Revoke implements verbs.Revoker.
func (m *mr) Revoke() bool {
	if m.key == 0 || m.dev.closed {
		return false
	}
	e := &m.dev.regions.table[m.key&keyEntry]
	for {
		w := e.word.Load()
		if w>>32 != m.key>>32 || w&regionTaken != 0 {
			return false
		}
		// Pairs with the swap in Take: one of the two sees the other.
		if e.word.CompareAndSwap(w, w|regionClosing) {
			return m.Close() == nil
		}
	}
}

// Take implements verbs.Taker.
func (q *qp) Take(r verbs.Remote) bool {
	i := r.Key & keyEntry
	if i >= maxRegions || r.Key>>32 == 0 || q.state != qpReady {
		return false
	}
	e := &q.link.regions[i]
	for {
		w := e.word.Load()
		if w>>32 != r.Key>>32 || w&regionClosing != 0 {
			return false
		}
		if e.word.CompareAndSwap(w, w|regionTaken) {
			return true
		}
	}
}

// reads says whether a peer with that number may be reading: it is connected, and
// its end has not been heard of.
func (d *Device) reads(peer uint32) bool {
	return slices.ContainsFunc(d.qps, func(q *qp) bool { return q.theirs == peer && q.link != nil && !q.closing })
}

// closeAll takes back all rights to read, since the device closes: peers keep
// their mapping of the table. A peer that has been stopped in the middle of a
// piece is not waited for longer than a second.
func (r *regions) closeAll() {
	limit := time.Now().Add(time.Second)
	for i := range r.mem {
		e := &r.table[i]
		for r.mem[i] != nil && e.word.Load()&regionReader != 0 && time.Now().Before(limit) {
			e.word.Or(regionClosing)
			runtime.Gosched()
		}
		e.word.Store(0)
	}
}

// lookup returns registered memory of this device, or nil.
func (r *regions) lookup(key, addr, n uint64) []byte {
	i := key & keyEntry
	if uint32(key) != uint32(key)&(keyArena|keyEntry) || i >= uint64(len(r.mem)) || r.mem[i] == nil ||
		r.table[i].word.Load()>>32 != key>>32 {
		return nil
	}
	off := addr - address(r.mem[i])
	if size := uint64(len(r.mem[i])); off > size || n > size-off {
		return nil
	}
	return r.mem[i][off : off+n]
}

// releaseRegions takes back what a dead peer held.
func (d *Device) releaseRegions(peer uint32) {
	for i := range d.regions.mem {
		e := &d.regions.table[i]
		if w := e.word.Load(); w&regionReader == uint64(peer) {
			e.word.And(^uint64(regionReader))
		}
	}
}

// hold takes the right to read n bytes at addr of the peer's memory by key, for
// one piece. Busy means that another reader has it just now.
func (q *qp) hold(key, addr, n uint64) (e *region, s verbs.Status, busy bool) {
	i := key & keyEntry
	if i >= maxRegions || key>>32 == 0 {
		return nil, verbs.StatusRemoteAccess, false
	}
	e = &q.link.regions[i]
	w := e.word.Load()
	if w>>32 != key>>32 || w&regionClosing != 0 {
		return nil, verbs.StatusRemoteAccess, false
	}
	// From this swap on, until release, the owner's Close waits.
	if w&regionReader != 0 || !e.word.CompareAndSwap(w, w|uint64(q.mine)) {
		return nil, verbs.StatusOK, true
	}
	if base, size := e.addr, e.size; addr < base || addr-base > size || n > size-(addr-base) {
		e.release()
		return nil, verbs.StatusRemoteAccess, false
	}
	return e, verbs.StatusOK, false
}

// release gives back what hold took.
func (e *region) release() { e.word.And(^uint64(regionReader)) }
