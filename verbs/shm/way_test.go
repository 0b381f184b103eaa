//go:build linux

package shm

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
)

func TestPaceClass(t *testing.T) {
	for _, v := range []struct{ n, class int }{
		{0, 0}, {1, 0}, {8191, 0}, {8192, 1}, {16383, 1}, {16384, 2}, {1 << 20, 8}, {1 << 26, 14}, {1 << 27, 15}, {1 << 40, 15},
	} {
		if got := paceClass(v.n); got != v.class {
			t.Errorf("%d bytes are of class %d, want %d", v.n, got, v.class)
		}
	}
}

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

// Both ways are tried, then the faster is preferred, and the other one looked at
// now and then; each size by itself; and when the ways change places, so does the
// preference.
func TestPacePrefers(t *testing.T) {
	var p pace
	const size, other = 1 << 20, 1 << 14
	if d := cmp.Diff(map[Way]int{Stream: paceSamples, Copy: paceSamples}, p.run(2*paceSamples, size, 10, 20)); d != "" {
		t.Errorf("at first (-want +got)\n%s", d)
	}
	if d := cmp.Diff(map[Way]int{Stream: 10*paceAgain - 10, Copy: 10}, p.run(10*paceAgain, size, 10, 20)); d != "" {
		t.Errorf("streaming is faster (-want +got)\n%s", d)
	}
	if d := cmp.Diff(map[Way]int{Stream: 8 + 10, Copy: 8 + 10*paceAgain - 10}, p.run(2*paceSamples+10*paceAgain, other, 30, 20)); d != "" {
		t.Errorf("another size (-want +got)\n%s", d)
	}
	p.run(100*paceAgain, size, 40, 20)
	if got := p.run(10*paceAgain, size, 40, 20); got[Copy] != 10*paceAgain-10 {
		t.Errorf("after streaming has become slower: %v", got)
	}
	p.run(100*paceAgain, size, 5, 20)
	if got := p.run(10*paceAgain, size, 5, 20); got[Stream] != 10*paceAgain-10 {
		t.Errorf("after streaming has become faster again: %v", got)
	}
}

// One read that was interrupted doesn't change the preference.
func TestPaceOutlier(t *testing.T) {
	var p pace
	const size = 1 << 20
	p.run(2*paceSamples, size, 10, 13)
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
	p.run(2*paceSamples, size, 10_000, 30_000)
	for range 2000 {
		p.stalled(size)
	}
	if w := p.pick(size); w != Copy {
		t.Errorf("after stalls: %v", w)
	}
	p.run(2*paceAgain, size, 10_000, 30_000)
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
