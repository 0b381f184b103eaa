//go:build linux

package shm

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// Close of a registration waits for the peer that is copying a piece, and for no
// longer; no further piece begins.
func TestCloseWaitsForReader(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, _ := join(a, b)
	mem := make([]byte, 1000)
	m, err := b.d.Register(mem, verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	e, s, busy := qa.hold(m.Key(), m.Addr()+10, 990)
	if s != verbs.StatusOK || busy {
		t.Fatal(s, busy)
	}
	if _, s, busy := qa.hold(m.Key(), m.Addr(), 1); s != verbs.StatusOK || !busy {
		t.Errorf("a second reader at the same time: %v, busy %v", s, busy)
	}
	key, addr := m.Key(), m.Addr()
	closed := make(chan error, 1)
	go func() { closed <- m.Close() }()
	for end := time.Now().Add(limit); e.word.Load()&regionClosing == 0; {
		if time.Now().After(end) {
			t.Fatal("Close does not say that it waits")
		}
		runtime.Gosched()
	}
	select {
	case err := <-closed:
		t.Fatalf("Close has returned %v beside a reader", err)
	default:
	}
	if _, s, _ := qa.hold(key, addr, 1); s != verbs.StatusRemoteAccess {
		t.Errorf("a new piece while the owner closes: %v", s)
	}
	e.release()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(limit):
		t.Fatal("Close waits on")
	}
	if _, s, _ := qa.hold(key, addr, 1); s != verbs.StatusRemoteAccess {
		t.Errorf("after Close: %v", s)
	}
}

// A reader that dies in the middle of a piece holds nobody up, even when the owner
// closes the registration before it has taken what the reader had sent.
func TestCloseWithDeadReader(t *testing.T) {
	for _, messages := range []int{0, 3} {
		a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
		qa, qb := join(a, b)
		m, err := b.d.Register(make([]byte, 1000), verbs.AccessRead)
		if err != nil {
			t.Fatal(err)
		}
		if _, s, busy := qa.hold(m.Key(), m.Addr(), 1000); s != verbs.StatusOK || busy {
			t.Fatal(s, busy)
		}
		for i := range messages {
			if !qa.post(t, message(i, 8), 0) {
				t.Fatal("no room")
			}
		}
		a.d.Die()
		closed := make(chan error, 1)
		go func() { closed <- m.Close() }()
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(limit):
			t.Fatalf("with %d messages in the ring, Close waits for a dead reader", messages)
		}
		until(t, "the end", func() bool { return len(b.ends) > 0 }, b)
		b.checkMessages(qb.num, messages, 8)
		// The entry can be used again.
		if _, err := b.d.Register(make([]byte, 10), verbs.AccessRead); err != nil {
			t.Error(err)
		}
	}
}

// A word that no peer of ours wrote is no reader.
func TestCloseWithUnknownReader(t *testing.T) {
	b := newNode(t, Config{}, few)
	m, err := b.d.Register(make([]byte, 1000), verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	b.d.regions.table[m.Key()&keyEntry].word.Or(regionReader)
	closed := make(chan error, 1)
	go func() { closed <- m.Close() }()
	select {
	case <-closed:
	case <-time.After(limit):
		t.Fatal("Close waits for nobody")
	}
}

// Keys and bounds: a wrong one fails, and the next read is right.
func TestHoldBounds(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, _ := join(a, b)
	m, err := b.d.Register(make([]byte, 1000), verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	local, err := b.d.Register(make([]byte, 1000), verbs.AccessLocal)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		what      string
		key, addr uint64
		n         uint64
		want      verbs.Status
	}{
		{"all", m.Key(), m.Addr(), 1000, verbs.StatusOK},
		{"the last byte", m.Key(), m.Addr() + 999, 1, verbs.StatusOK},
		{"nothing at the end", m.Key(), m.Addr() + 1000, 0, verbs.StatusOK},
		{"one too many", m.Key(), m.Addr(), 1001, verbs.StatusRemoteAccess},
		{"one past the end", m.Key(), m.Addr() + 1000, 1, verbs.StatusRemoteAccess},
		{"before", m.Key(), m.Addr() - 1, 1, verbs.StatusRemoteAccess},
		{"around the address space", m.Key(), m.Addr() + 1, 1<<64 - 1, verbs.StatusRemoteAccess},
		{"key 0", 0, m.Addr(), 1, verbs.StatusRemoteAccess},
		{"another generation", m.Key() + 1<<32, m.Addr(), 1, verbs.StatusRemoteAccess},
		{"generation 0", m.Key() & keyEntry, m.Addr(), 1, verbs.StatusRemoteAccess},
		{"another entry", m.Key() + 1, m.Addr(), 1, verbs.StatusRemoteAccess},
		{"no entry", m.Key() | keyEntry, m.Addr(), 1, verbs.StatusRemoteAccess},
		{"local memory", local.Key(), local.Addr(), 1, verbs.StatusRemoteAccess},
	} {
		e, s, busy := qa.hold(v.key, v.addr, v.n)
		if s != v.want || busy {
			t.Errorf("%s: %v, busy %v, want %v", v.what, s, busy, v.want)
		}
		if s == verbs.StatusOK && !busy {
			e.release()
		}
		if got := b.d.regions.lookup(v.key, v.addr, v.n) != nil; got != (v.want == verbs.StatusOK) {
			t.Errorf("%s: the owner's own look-up says %v", v.what, got)
		}
	}
}

// All entries can be used, all come back, and old keys stay wrong.
func TestRegionsRunOut(t *testing.T) {
	b := newNode(t, Config{}, few)
	mem := make([]byte, 64)
	seen := map[uint64]bool{}
	for round := range 3 {
		var list []verbs.MR
		for range maxRegions {
			m, err := b.d.Register(mem, verbs.AccessRead)
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			if seen[m.Key()] {
				t.Fatalf("key %#x for the second time", m.Key())
			}
			seen[m.Key()] = true
			list = append(list, m)
		}
		if _, err := b.d.Register(mem, verbs.AccessRead); !errors.Is(err, verbs.ErrNoMemory) {
			t.Errorf("one more: %v", err)
		}
		for _, m := range list {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	m, err := b.d.Register(mem, verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

// After Close has returned nobody reads the memory, by any way: what the reader
// gets is either the old bytes or an error, never what the owner wrote later.
func TestClosedIsQuiet(t *testing.T) {
	for _, w := range []Way{Stream, Copy, Direct} {
		t.Run(w.String(), func(t *testing.T) {
			a, b := newNode(t, Config{Read: w}, few), newNode(t, Config{Read: w}, few)
			qa, _ := join(a, b)
			const size = 2 << 20
			src, err := b.d.Alloc(size)
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]byte, size)
			for round := range 30 {
				for i := range src {
					src[i] = 1
				}
				clear(dst)
				m, err := b.d.Register(src, verbs.AccessRead)
				if err != nil {
					t.Fatal(err)
				}
				id := uint64(round)
				a.read(qa, dst, m, id)
				for range round {
					a.poll()
					b.poll()
				}
				if err := m.Close(); err != nil {
					t.Fatal(err)
				}
				for i := range src {
					src[i] = 2
				}
				until(t, "the read's end", func() bool { _, ok := a.reads[id]; return ok }, a, b)
				if i := bytes.IndexByte(dst, 2); i >= 0 {
					t.Fatalf("round %d: byte %d was read after Close", round, i)
				}
				switch a.reads[id] {
				case verbs.StatusOK:
					if bytes.IndexByte(dst, 0) >= 0 {
						t.Fatalf("round %d: a read that is not complete ended well", round)
					}
				case verbs.StatusRemoteAccess:
				default:
					t.Fatalf("round %d: %v", round, a.reads[id])
				}
			}
		})
	}
}
