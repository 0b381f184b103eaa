//go:build linux

package shm

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
)

// run lets the pace choose n times where the ways cost what they cost, and counts
// the choices.
func (p *pace) run(n, size int, stream, single float64) (counts map[Way]int) {
	counts = map[Way]int{}
	for range n {
		w := p.pick(size, 0)
		counts[w]++
		if w == Stream {
			p.note(w, size, stream)
		} else {
			p.note(w, size, single)
		}
	}
	return counts
}

// Both ways have a turn, then the faster is preferred, and the other one looked at
// now and then, for a hundredth of the time; each size by itself; and when the ways
// change places, so does the preference.
func TestPacePrefers(t *testing.T) {
	var p pace
	const size, other = 1 << 20, 1 << 14
	if d := cmp.Diff(map[Way]int{Stream: paceLook, Copy: paceLook}, p.run(2*paceLook, size, 10, 20)); d != "" {
		t.Errorf("at first (-want +got)\n%s", d)
	}
	const n = 100_000
	few := func(what string, of int, slow, fast float64) {
		t.Helper()
		cost := float64(of) * (slow - fast) / (float64(n) * fast)
		if cost < paceCost/2 || cost > 2*paceCost {
			t.Errorf("%s: %d reads of the slower way, which cost %.4f of the time", what, of, cost)
		}
	}
	few("streaming is faster", p.run(n, size, 10, 20)[Copy], 20, 10)
	few("another size", p.run(n, other, 30, 20)[Stream], 30, 20)
	for _, v := range []struct {
		what           string
		stream, single float64
		slower         Way
		within         int // reads until it is noticed
	}{
		{"streaming has become slower", 40, 20, Stream, 4 * recentMost},
		{"streaming has become faster again", 5, 20, Copy, paceMany + 2*paceLook},
		{"streaming is a little slower", 22, 20, Stream, paceMany + 2*paceLook},
	} {
		p.run(v.within, size, v.stream, v.single)
		if got := p.run(1000, size, v.stream, v.single)[v.slower]; got > 1000*paceLook/paceFew {
			t.Errorf("%s: still %d of 1000", v.what, got)
		}
	}
}

// Where the ways cost nearly the same, looking costs nearly nothing, but it isn't
// done all the time.
func TestPaceEqual(t *testing.T) {
	var p pace
	if got := p.run(100*(paceFew+paceLook), 1<<20, 10, 10); got[Copy] > 110*paceLook {
		t.Errorf("%v", got)
	}
}

// The first reads of a turn are slow, and don't count.
func TestPaceCold(t *testing.T) {
	var p pace
	const size = 1 << 16
	for range 2 {
		w := p.pick(size, 0)
		for range paceCold {
			p.note(w, size, 1000)
		}
		for range paceLook - 1 {
			p.pick(size, 0)
			p.note(w, size, map[Way]float64{Stream: 10, Copy: 20}[w])
		}
	}
	if w := p.pick(size, 0); w != Stream {
		t.Errorf("after a cold start: %v", w)
	}
}

// Reads that were interrupted don't change the preference.
func TestPaceOutlier(t *testing.T) {
	var p pace
	const size = 1 << 20
	for i := range 20_000 {
		w := p.pick(size, 0)
		took := map[Way]float64{Stream: 10, Copy: 13}[w]
		if i%3 == 0 {
			took = 1e9
		}
		p.note(w, size, took)
	}
	if got := p.run(100, size, 10, 13); got[Copy] > 2*paceLook {
		t.Errorf("with every third read interrupted: %v", got)
	}
}

// A target that doesn't move makes the single copy preferred, until streaming is
// found to be faster again.
func TestPaceStalled(t *testing.T) {
	var p pace
	const size = 1 << 20
	p.run(2*paceLook, size, 10_000, 30_000)
	p.run(paceCold, size, 10_000, 30_000)
	p.stalled(size)
	if w := p.pick(size, 0); w != Stream {
		t.Errorf("after one stall: %v", w)
	}
	for range 2000 {
		if p.pick(size, 0) == Stream {
			p.stalled(size)
		} else {
			p.note(Copy, size, 30_000)
		}
	}
	if w := p.pick(size, 0); w != Copy {
		t.Errorf("after stalls: %v", w)
	}
	p.run(paceMany+2*paceLook, size, 10_000, 30_000)
	if w := p.pick(size, 0); w != Stream {
		t.Errorf("after streaming had its turn: %v", w)
	}
}

// Which way a read takes, by what is forced, what is mapped, and what the system
// allows.
func TestChooseWay(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, _ := join(a, b)
	const ordinary, mapped = 1 << 32, 1<<32 | keyArena
	for _, v := range []struct {
		forced     Way
		key        uint64
		n          int
		vm, noMap  bool
		want, also Way
	}{
		{Auto, mapped, 100, true, false, Direct, Direct},
		{Direct, mapped, 100, true, false, Direct, Direct},
		{Stream, mapped, 100, true, false, Stream, Stream},
		{Copy, mapped, 100, true, false, Copy, Copy},
		{Auto, ordinary, 100, true, false, Stream, Copy},
		{Auto, ordinary, 100, false, false, Stream, Stream},
		{Direct, ordinary, 100, false, false, Stream, Stream},
		{Copy, ordinary, 100, true, false, Copy, Copy},
		{Copy, ordinary, 100, false, false, Stream, Stream},
		{Direct, mapped, 100, false, true, Stream, Stream},
		{Stream, ordinary, 0, true, false, Copy, Copy},
		{Auto, mapped, 0, false, true, Copy, Copy},
	} {
		a.d.cfg.Read, qa.link.vm, qa.link.noArena = v.forced, v.vm, v.noMap
		for range 40 {
			if got := qa.chooseWay(verbs.Remote{Key: v.key}, v.n); got != v.want && got != v.also {
				t.Errorf("%+v: %v", v, got)
				break
			}
		}
	}
}

func TestParseWay(t *testing.T) {
	for _, w := range []Way{Auto, Direct, Stream, Copy} {
		if got, err := ParseWay(w.String()); err != nil || got != w {
			t.Errorf("%v: %v, %v", w, got, err)
		}
	}
	_, err := ParseWay("fast")
	if want := `"fast" is not a way of reading: want auto, direct, stream or copy`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
