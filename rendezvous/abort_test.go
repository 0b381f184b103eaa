package rendezvous

import (
	"bytes"
	"errors"
	"testing"

	"github.com/verbena-mpi/verbena/verbs/sim"
)

// A pull that is given up, at each moment of the read: it ends as given up or it was
// too late; its memory isn't touched after that; the sender hears nothing of it, and
// the message can be pulled again.
func TestAbort(t *testing.T) {
	const n = 30_000
	given, late := 0, 0
	for turns := range 200 {
		r := newRig(t, 2, sim.Config{})
		a, b := r.ranks[0], r.ranks[1]
		sent := pattern(turns, n)
		s := a.offer(1, bytes.Clone(sent)) // which is written over at the end
		o := b.takeOffer()
		p := b.pull(o, n)
		for range turns {
			r.turn()
		}
		b.do(func() { b.layer.Abort(&p.Pull) })
		r.until("the end of the pull", func() bool { return len(p.told) > 0 })
		r.settle()
		switch err := p.told[0]; {
		case len(p.told) != 1:
			t.Fatalf("told %v", p.told)
		case err == nil:
			late++
			p.check(t, sent, n)
			if len(s.told) != 1 {
				t.Errorf("after %d turns: the sender was told %v", turns, s.told)
			}
			r.clean()
			continue
		case !errors.Is(err, ErrAborted):
			t.Fatal(err)
		}
		given++
		if !bytes.Equal(p.all, p.then) {
			t.Errorf("after %d turns: written after the pull was given up", turns)
		}
		if len(s.told) != 0 {
			t.Errorf("after %d turns: the sender was told %v", turns, s.told)
		}
		if p.Offered() != o.Extension {
			t.Errorf("%+v was offered, not %+v", p.Offered(), o.Extension)
		}
		again := b.pull(o, n)
		r.until("the second pull", func() bool { return len(again.told) > 0 && len(s.told) > 0 })
		again.check(t, sent, n)
		r.clean()
	}
	if given == 0 || late == 0 {
		t.Errorf("given up %d times, too late %d times", given, late)
	}
}
