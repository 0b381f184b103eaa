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
		w := p.pick(size)
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
// now and then; each size by itself; and when the ways change places, so does the
// preference.
func TestPacePrefers(t *testing.T) {
	var p pace
	const size, other = 1 << 20, 1 << 14
	const cycle = paceMost + paceTurn
	if d := cmp.Diff(map[Way]int{Stream: paceTurn, Copy: paceTurn}, p.run(2*paceTurn, size, 10, 20)); d != "" {
		t.Errorf("at first (-want +got)\n%s", d)
	}
	p.run(10*cycle, size, 10, 20)
	if got := p.run(10*cycle, size, 10, 20); got[Copy] < 9*paceTurn || got[Copy] > 11*paceTurn {
		t.Errorf("streaming is faster: %v", got)
	}
	p.run(10*cycle, other, 30, 20)
	if got := p.run(10*cycle, other, 30, 20); got[Stream] < 9*paceTurn || got[Stream] > 11*paceTurn {
		t.Errorf("another size: %v", got)
	}
	p.run(3*cycle, size, 40, 20)
	if got := p.run(10*cycle, size, 40, 20); got[Stream] > 11*paceTurn {
		t.Errorf("after streaming has become slower: %v", got)
	}
	p.run(3*cycle, size, 5, 20)
	if got := p.run(10*cycle, size, 5, 20); got[Copy] > 11*paceTurn {
		t.Errorf("after streaming has become faster again: %v", got)
	}
}

// The first reads of a turn are slow, and don't count.
func TestPaceCold(t *testing.T) {
	var p pace
	const size = 1 << 16
	for range paceTurn {
		p.pick(size)
	}
	for range paceCold {
		p.note(Stream, size, 1000)
	}
	p.note(Stream, size, 10)
	p.run(paceTurn, size, 10, 20)
	if w := p.pick(size); w != Stream {
		t.Errorf("after a cold start: %v", w)
	}
}

// One read that was interrupted doesn't change the preference.
func TestPaceOutlier(t *testing.T) {
	var p pace
	const size = 1 << 20
	p.run(2*paceTurn, size, 10, 13)
	p.note(Stream, size, 1e9)
	if w := p.pick(size); w != Stream {
		t.Errorf("after one read that took a second: %v", w)
	}
}

// A target that doesn't move makes the single copy preferred, until streaming is
// found to be faster again.
func TestPaceStalled(t *testing.T) {
	var p pace
	const size = 1 << 20
	p.run(2*paceTurn, size, 10_000, 30_000)
	for range 2000 {
		p.stalled(size)
	}
	if w := p.pick(size); w != Copy {
		t.Errorf("after stalls: %v", w)
	}
	p.run(2*(paceMost+paceTurn), size, 10_000, 30_000)
	if w := p.pick(size); w != Stream {
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
