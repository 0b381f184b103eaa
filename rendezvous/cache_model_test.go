package rendezvous

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbena-mpi/verbena/verbs"
)

// modelEntry is what a cache should hold, said in places of objects and not in
// addresses.
type modelEntry struct {
	object, from, to int
	access           verbs.Access
	uses, stamp      int
}

// use is an acquired range.
type use struct {
	mr   verbs.MR
	addr uint64
	mem  []byte
	in   *modelEntry
}

// model is a cache that looks at all it has, beside the true one.
type model struct {
	c       *cache
	objects [][]byte
	entries []*modelEntry
	uses    []use
	want    Counters
	clock   int
}

// find is what a hit is: of the ranges that begin at or before from, the last one,
// and the largest of these.
func (m *model) find(object, from, to int, a verbs.Access) *modelEntry {
	var best *modelEntry
	for _, e := range m.entries {
		if e.object == object && e.access == a && e.from <= from &&
			(best == nil || e.from > best.from || e.from == best.from && e.to > best.to) {
			best = e
		}
	}
	if best == nil || best.to < to {
		return nil
	}
	return best
}

func (m *model) acquire(object, from, to int, a verbs.Access) *modelEntry {
	if e := m.find(object, from, to, a); e != nil {
		m.want.RegHits++
		e.uses++
		return e
	}
	m.want.RegMisses++
	m.entries = slices.DeleteFunc(m.entries, func(e *modelEntry) bool {
		return e.object == object && e.access == a && e.uses == 0 && e.from >= from && e.to <= to
	})
	e := &modelEntry{object: object, from: from, to: to, access: a, uses: 1}
	m.entries = append(m.entries, e)
	m.shrink()
	return e
}

func (m *model) release(e *modelEntry) {
	m.clock++
	e.uses--
	e.stamp = m.clock
	if e.uses == 0 {
		m.shrink()
	}
}

func (m *model) shrink() {
	for {
		bytes, oldest := 0, -1
		for i, e := range m.entries {
			bytes += e.to - e.from
			if e.uses == 0 && (oldest < 0 || e.stamp < m.entries[oldest].stamp) {
				oldest = i
			}
		}
		if oldest < 0 || len(m.entries) <= m.c.max && uint64(bytes) <= m.c.maxBytes {
			return
		}
		m.want.RegEvictions++
		m.entries = slices.Delete(m.entries, oldest, oldest+1)
	}
}

// collect drops an object that is not in use, and waits until the cache was told.
func (m *model) collect(t *testing.T, object int) {
	for _, u := range m.uses {
		if u.in.object == object {
			return
		}
	}
	m.objects[object] = nil
	n := len(m.entries)
	m.entries = slices.DeleteFunc(m.entries, func(e *modelEntry) bool { return e.object == object })
	collected(t, m.c, n-len(m.entries))
	m.c.drain()
}

const modelObject = 4096

// Acquire, release and collect at random: the cache hits, misses and evicts as the
// model does, and what is in use is registered.
func TestCacheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c, d := newTestCache(t, rapid.IntRange(0, 6).Draw(rt, "entries"), uint64(rapid.IntRange(1, 5).Draw(rt, "objects"))*modelObject)
		m := &model{c: c, objects: make([][]byte, 4)}
		pick := func(rt *rapid.T) (object, from, to int, a verbs.Access) {
			object = rapid.IntRange(0, len(m.objects)-1).Draw(rt, "object")
			from = rapid.IntRange(0, 7).Draw(rt, "from") * modelObject / 8
			to = rapid.IntRange(from*8/modelObject+1, 8).Draw(rt, "to") * modelObject / 8
			return object, from, to, rapid.SampledFrom([]verbs.Access{verbs.AccessLocal, verbs.AccessRead}).Draw(rt, "access")
		}
		acquire := func(rt *rapid.T) {
			object, from, to, a := pick(rt)
			if m.objects[object] == nil {
				m.objects[object] = make([]byte, modelObject)
			}
			mem := m.objects[object][from:to]
			mr, addr, err := c.acquire(mem, a)
			if err != nil {
				rt.Fatal(err)
			}
			m.uses = append(m.uses, use{mr, addr, mem, m.acquire(object, from, to, a)})
		}
		rt.Repeat(map[string]func(*rapid.T){
			"acquire": acquire,
			"release": func(rt *rapid.T) {
				if len(m.uses) == 0 {
					rt.Skip("nothing is in use")
				}
				i := rapid.IntRange(0, len(m.uses)-1).Draw(rt, "use")
				u := m.uses[i]
				m.uses = slices.Delete(m.uses, i, i+1)
				put(t, u.mr)
				m.release(u.in)
			},
			"collect": func(rt *rapid.T) {
				m.collect(t, rapid.IntRange(0, len(m.objects)-1).Draw(rt, "object"))
			},
			"": func(rt *rapid.T) {
				if *c.count != m.want {
					rt.Fatalf("%+v, want %+v", *c.count, m.want)
				}
				if len(d.live) != len(m.entries) || c.registered != len(m.entries) {
					rt.Fatalf("%d registrations, %d counted, want %d", len(d.live), c.registered, len(m.entries))
				}
				for _, u := range m.uses {
					verify(t, c, u.mr, u.addr, u.mem, u.in.access)
				}
				if t.Failed() {
					rt.FailNow()
				}
			},
		})
		put(t, mrsOf(m.uses)...)
	})
}

func mrsOf(uses []use) (mrs []verbs.MR) {
	for _, u := range uses {
		mrs = append(mrs, u.mr)
	}
	return mrs
}
