//go:build linux

package shm

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbena-mpi/verbena/verbs"
)

// Runs of chunks against a model: what is lent is lent to one, a reader that
// returns what it has gets more, and however many have stopped, the others get
// something.
func TestChunksModel(t *testing.T) {
	seg := make([]byte, ringsOff)
	rapid.Check(t, func(rt *rapid.T) {
		d := &Device{}
		d.chunk.init(seg)
		d.chunk.warm = true
		m := chunksModel{d: d}
		for i := range uint32(rapid.IntRange(1, 12).Draw(rt, "readers")) {
			d.qps = append(d.qps, newReader(d, i+1))
		}
		m.held = make([][]run, len(d.qps))
		rt.Repeat(map[string]func(*rapid.T){"lend": m.lend, "give back": m.giveBack, "die": m.die, "lie": m.lie, "": m.check})
	})
}

func newReader(d *Device, theirs uint32) *qp {
	return &qp{dev: d, theirs: theirs, rx: rx{ring: new(ring)}, state: qpReady}
}

type chunksModel struct {
	d     *Device
	owner [chunkUnits]uint32
	held  [][]run // by reader, oldest first
}

func (m *chunksModel) reader(t *rapid.T) (*qp, int) {
	i := rapid.IntRange(0, len(m.d.qps)-1).Draw(t, "reader")
	return m.d.qps[i], i
}

func (m *chunksModel) lend(t *rapid.T) {
	q, i := m.reader(t)
	n := chunkFor(rapid.Uint64Range(1, 1<<20).Draw(t, "bytes of the read"))
	unit, got, ok := m.d.lendable(q, n)
	if !ok {
		if len(m.held[i]) == 0 {
			t.Fatalf("a reader that has nothing gets nothing: %d units are lent", m.d.chunk.lent)
		}
		return
	}
	if got != n && (got > n || got <= 0 || len(m.held[i]) != 0) {
		t.Fatalf("%d bytes of %d", got, n)
	}
	n = got
	b := m.d.chunk.take(unit, n, q)
	if len(b) != n {
		t.Fatalf("%d bytes, want %d", len(b), n)
	}
	for u := unit; u < unit+units(n); u++ {
		if m.owner[u] != 0 {
			t.Fatalf("unit %d is lent to %d and to %d", u, m.owner[u], q.theirs)
		}
		m.owner[u] = q.theirs
	}
	m.held[i] = append(m.held[i], run{uint16(unit), uint16(units(n))})
}

func (m *chunksModel) giveBack(t *rapid.T) {
	_, i := m.reader(t)
	for range rapid.IntRange(1, 30).Draw(t, "runs") {
		if len(m.held[i]) == 0 {
			return
		}
		r := m.held[i][0]
		m.held[i] = m.held[i][1:]
		m.d.qps[i].rx.ring.back.Add(uint64(r.units))
		m.free(r)
	}
}

func (m *chunksModel) free(r run) {
	for u := r.unit; u < r.unit+r.units; u++ {
		m.owner[u] = 0
	}
}

func (m *chunksModel) die(t *rapid.T) {
	_, i := m.reader(t)
	m.end(i)
	m.d.qps[i] = newReader(m.d, m.d.qps[i].theirs)
}

func (m *chunksModel) end(i int) {
	q := m.d.qps[i]
	m.d.releaseChunks(q)
	for _, r := range m.held[i] {
		m.free(r)
	}
	m.held[i] = nil
}

func (m *chunksModel) check(t *rapid.T) {
	units := 0
	for _, q := range m.d.qps {
		units += q.loans.units
	}
	if m.d.chunk.lent != units {
		t.Fatalf("%d units are lent, the readers have %d", m.d.chunk.lent, units)
	}
	if len(m.d.qps) == 1 || units > 0 {
		return
	}
	for u, l := range m.d.chunk.at {
		if l.units != 0 {
			t.Fatalf("unit %d is lent to nobody: %+v", u, l)
		}
	}
}

// lie is a reader that gives back more than it has, or a part of a chunk: it is
// not believed, and its queue pair ends.
func (m *chunksModel) lie(t *rapid.T) {
	q, i := m.reader(t)
	lie := rapid.Uint64Range(uint64(q.loans.units)+1, 1<<64-1-q.loans.back).Draw(t, "units")
	q.rx.ring.back.Store(q.loans.back + lie)
	lent := m.d.chunk.lent
	m.d.chunk.collect(q)
	if q.state != qpFailed || q.status != verbs.StatusCorrupt || m.d.chunk.lent != lent {
		t.Fatalf("%d units came back of %d: state %d, status %v", lie, q.loans.units, q.state, q.status)
	}
	m.end(i)
	m.d.qps[i] = newReader(m.d, uint32(len(m.d.qps)+1))
}

// Readers that have stopped, more than one, leave chunks to those that go on.
func TestStoppedReaders(t *testing.T) {
	const size = 8 << 20
	owner := newNode(t, Config{MaxPeers: 16}, few)
	src := bytes.Repeat([]byte("verbena "), size/8)
	m, err := owner.d.Register(src, verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		o := newNode(t, Config{Read: Stream, NoSingleCopy: true}, few)
		q, _ := join(o, owner)
		// Those before have asked for all of it, and take nothing.
		dst := make([]byte, size)
		o.read(q, dst, m, uint64(i))
		for range 300 {
			owner.poll()
		}
		live := newNode(t, Config{Read: Stream, NoSingleCopy: true}, few)
		ql, _ := join(live, owner)
		got := make([]byte, size)
		live.read(ql, got, m, 9)
		until(t, "the read of one that goes on", func() bool { return len(live.reads) > 0 }, live, owner)
		if !bytes.Equal(got, src) {
			t.Fatalf("beside %d readers that have stopped: wrong bytes", i+1)
		}
	}
}
