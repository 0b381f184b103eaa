package verbstest

import (
	"bytes"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var readErrorTests = []test{
	{"ReadRefused", testReadRefused},
	{"ReadClosedMR", testReadClosedMR},
	{"OverlappingMRs", testOverlappingMRs},
	{"MRCloseDuringRead", testMRCloseDuringRead},
}

// refused checks that a read ends with StatusRemoteAccess and leaves the local
// memory alone. Whether the queue pair survives is the device's choice; it
// says so with OpClosed when it doesn't.
func refused(r *rig, a, b *end, tg *target, what string) {
	r.t.Helper()
	r.wait(tg)
	if st := tg.status(); st != verbs.StatusRemoteAccess {
		r.t.Errorf("%s: the read ended with %v, want %v", what, st, verbs.StatusRemoteAccess)
	}
	r.check(tg.untouched())
	r.settle()
	if !a.isClosed && !b.isClosed {
		a.tolerant, b.tolerant = false, false
		r.ping(a, b)
	}
}

// Wrong keys, wrong addresses, memory that was registered without the right.
func testReadRefused(t *testing.T, h Harness) {
	const size = 10_000
	for _, c := range []struct {
		what string
		n    int
		from func(src, other *source, local verbs.MR) verbs.Remote
	}{
		{"key 0", 100, func(src, _ *source, _ verbs.MR) verbs.Remote { return verbs.Remote{Addr: src.mr.Addr()} }},
		{"key + 1", 100, func(src, _ *source, _ verbs.MR) verbs.Remote {
			return verbs.Remote{Addr: src.mr.Addr(), Key: src.mr.Key() + 1<<20 + 1}
		}},
		{"another registration's key", size, func(src, other *source, _ verbs.MR) verbs.Remote {
			return verbs.Remote{Addr: src.mr.Addr(), Key: other.mr.Key()}
		}},
		{"one byte past the end", size, func(src, _ *source, _ verbs.MR) verbs.Remote { return src.at(1) }},
		{"far past the end", 1, func(src, _ *source, _ verbs.MR) verbs.Remote { return src.at(1 << 40) }},
		{"at the end", 1, func(src, _ *source, _ verbs.MR) verbs.Remote { return src.at(size) }},
		{"before the start", 8, func(src, _ *source, _ verbs.MR) verbs.Remote { return src.at(-1) }},
		{"an end that overflows", size, func(src, _ *source, _ verbs.MR) verbs.Remote {
			return verbs.Remote{Addr: ^uint64(0) - 10, Key: src.mr.Key()}
		}},
		{"memory without AccessRead", 100, func(_, _ *source, local verbs.MR) verbs.Remote {
			return verbs.Remote{Addr: local.Addr(), Key: local.Key()}
		}},
	} {
		r, a, b := newPair(t, h, shape{})
		r.ping(a, b)
		src, other := r.newSource(1, size), r.newSource(1, 200)
		_, local, err := b.side.buffer(size)
		r.check(err)
		tg := r.newTarget(a, c.n, 5)
		a.tolerant, b.tolerant = true, true
		r.post(tg, c.from(src, other, local))
		refused(r, a, b, tg, c.what)
	}
}

func testReadClosedMR(t *testing.T, h Harness) {
	for _, n := range []int{10, 100_000} {
		r, a, b := newPair(t, h, shape{})
		r.ping(a, b)
		src := r.newSource(1, n)
		r.arrived(r.read(a, src, 0, n, 0), src, 0)
		from := src.at(0)
		r.check(src.mr.Close())
		a.tolerant, b.tolerant = true, true
		tg := r.newTarget(a, n, 0)
		r.post(tg, from)
		refused(r, a, b, tg, "a closed registration")
	}
}

// Registrations of the same memory are independent of one another.
func testOverlappingMRs(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	src := r.newSource(1, 50_000)
	again, err := b.side.dev.Register(src.mem, verbs.AccessRead)
	r.check(err)
	part, err := b.side.dev.Register(src.mem[1000:3000], verbs.AccessRead)
	r.check(err)
	whole := &source{side: b.side, mem: src.mem, mr: again, seed: src.seed}
	r.check(part.Close())
	r.arrived(r.read(a, src, 0, len(src.mem), 0), src, 0)
	r.check(src.mr.Close())
	r.arrived(r.read(a, whole, 1500, 1000, 0), whole, 1500)
	r.check(again.Close())
}

// After MR.Close nobody reads the memory any more: what is stored afterwards
// never arrives.
func testMRCloseDuringRead(t *testing.T, h Harness) {
	for _, turns := range []int{0, 1, 2, 3, 5, 8, 13, 30, 70, 150, 400} {
		r, a, b := newPair(t, h, shape{})
		r.ping(a, b)
		src := r.newSource(1, 1<<20)
		old := bytes.Clone(src.mem)
		a.tolerant, b.tolerant = true, true
		tg := r.read(a, src, 0, len(src.mem), 0)
		for range turns {
			r.turn()
		}
		r.check(src.mr.Close())
		scribble(src.mem)
		r.wait(tg)
		checkClosedRead(r, tg, old)
	}
}

// checkClosedRead checks a read whose source was spoiled after MR.Close.
func checkClosedRead(r *rig, tg *target, old []byte) {
	r.t.Helper()
	r.check(tg.guards())
	switch st := tg.status(); st {
	case verbs.StatusOK:
		if at := firstDifference(tg.data, old); at >= 0 {
			r.t.Fatalf("the read succeeded, and byte %d is %#x, want %#x", at, tg.data[at], old[at])
		}
	case verbs.StatusRemoteAccess, verbs.StatusFlushed:
		clean := tg.clean[guard+tg.skew:]
		for i, c := range tg.data {
			if c != old[i] && c != clean[i] {
				r.t.Fatalf("the read failed, and byte %d is %#x: stored after MR.Close", i, c)
			}
		}
	default:
		r.t.Fatalf("the read ended with %v", st)
	}
}
