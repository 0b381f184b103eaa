package rendezvous

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// When the receiver dies, at whatever moment, the sender's owner hears once, and
// its memory is its own from then on: a third rank's transfers go on.
func TestReceiverDies(t *testing.T) {
	eachMoment(t, func(t *testing.T, r *rig, sent []byte) (victim, survivor *rank, over func() bool, check func() string) {
		a, b := r.ranks[0], r.ranks[1]
		s := a.offer(1, bytes.Clone(sent))
		return b, a, func() bool { return len(s.told) > 0 }, func() string {
			if len(s.told) != 1 {
				t.Fatalf("the sender was told %v", s.told)
			}
			if err := s.told[0]; err != nil && !errors.Is(err, lostError(verbs.StatusPeerDead)) {
				t.Errorf("the sender was told %v", err)
			}
			return fmt.Sprint(s.told, b.pulled != nil, counter(b.dev, "read_bytes"))
		}
	})
}

// When the sender dies the receiver's owner hears once, and nothing is written
// to its buffer any more.
func TestSenderDies(t *testing.T) {
	eachMoment(t, func(t *testing.T, r *rig, sent []byte) (victim, survivor *rank, over func() bool, check func() string) {
		a, b := r.ranks[0], r.ranks[1]
		a.offer(1, bytes.Clone(sent))
		return a, b, func() bool { return len(b.lost) > 0 && (b.pulled == nil || len(b.pulled.told) > 0) }, func() string {
			p := b.pulled
			if p == nil {
				return "it died before its offer came"
			}
			if len(p.told) != 1 {
				t.Fatalf("the receiver was told %v", p.told)
			}
			if p.told[0] == nil {
				p.check(t, sent, len(sent))
			} else if !errors.Is(p.told[0], ErrRead) {
				t.Errorf("the receiver was told %v", p.told[0])
			}
			if !bytes.Equal(p.all, p.then) {
				t.Error("the buffer was written after the owner was told")
			}
			return fmt.Sprint(p.told, counter(b.dev, "read_bytes"))
		}
	})
}

// eachMoment runs a transfer of five chunks from rank 0 to rank 1, which is pulled
// as soon as it is offered, again and again, and kills one of the two a little
// later each time.
func eachMoment(t *testing.T, start func(*testing.T, *rig, []byte) (victim, survivor *rank, over func() bool, check func() string)) {
	const step, end = 500 * time.Nanosecond, 40 * time.Microsecond
	sent := pattern(3, 70_000)
	outcomes := map[string]int{}
	for at := time.Duration(0); at < end; at += step {
		r := newRig(t, 3, sim.Config{})
		b, c := r.ranks[1], r.ranks[2]
		for _, x := range r.ranks { // connections are made before the clock counts
			for _, ep := range x.eps {
				if ep != nil {
					x.do(ep.Contact)
				}
			}
		}
		r.settle()
		victim, survivor, over, check := start(t, r, sent)
		b.auto = len(sent)
		r.nw.At(r.nw.Now()+at, func() { r.nw.Kill(victim.dev) })
		kill := r.nw.Now() + at
		r.until("the kill", func() bool {
			if r.nw.Now() < kill {
				return false
			}
			for i, x := range r.ranks {
				if x == victim {
					r.ranks = append(append([]*rank(nil), r.ranks[:i]...), r.ranks[i+1:]...)
					break
				}
			}
			return true
		})
		r.until(fmt.Sprintf("the end, when killed after %v", at), over)
		r.settle()
		outcomes[check()]++
		victim.bury()
		s := survivor.offer(2, pattern(1, 30_000))
		p := c.pull(c.takeOffer(), 30_000)
		r.until("a transfer to the third rank", func() bool { return len(s.told) > 0 && len(p.told) > 0 })
		p.check(t, pattern(1, 30_000), 30_000)
		if t.Failed() {
			t.Fatalf("killed after %v", at)
		}
		r.clean()
	}
	// Before the offer, between it and the read, in each chunk, after the finish.
	if len(outcomes) < 6 {
		t.Errorf("the kills came at few moments of the transfer: %v", outcomes)
	}
}

// An offer that did not leave can be taken back; the owner hears nothing of it.
func TestWithdraw(t *testing.T) {
	r := newRig(t, 2, sim.Config{})
	a, b := r.ranks[0], r.ranks[1]
	// Not connected: the send queue of four places holds the first four.
	var sends []*sending
	for i := range 8 {
		sends = append(sends, a.offer(1, pattern(i, 1000)))
	}
	withdraw := func(i int) (ok bool) {
		a.do(func() { ok = a.layer.Withdraw(&sends[i].Send, &a.sends[1], a.eps[1], errWhy) })
		return ok
	}
	if !withdraw(5) || !withdraw(7) {
		t.Error("an offer in the queue could not be withdrawn")
	}
	if sends[5].mr != nil || sends[5].Send.mem != nil {
		t.Error("a withdrawn offer keeps its memory")
	}
	var pulls []*pulling
	for range 6 {
		pulls = append(pulls, b.pull(b.takeOffer(), 1000))
	}
	r.settle()
	if len(b.offers) != 0 {
		t.Errorf("%d offers too many", len(b.offers))
	}
	for k, i := range []int{0, 1, 2, 3, 4, 6} {
		pulls[k].check(t, pattern(i, 1000), 1000)
		if d := cmp.Diff([]error{nil}, sends[i].told); d != "" {
			t.Errorf("send %d (-want +got)\n%s", i, d)
		}
	}
	for _, i := range []int{5, 7} {
		if len(sends[i].told) != 0 {
			t.Errorf("the owner of a withdrawn offer was told %v", sends[i].told)
		}
	}
	r.clean()
}

var errWhy = errors.New("its sender wants it back")

// Where the device can't take back what a peer may read, the receiver of an offer is asked:
// one that it has not matched ends with the reason that was given first, and one that it
// has matched completes. What is asked for before it has left is asked for once.
func TestWithdrawAsks(t *testing.T) {
	r := newRig(t, 2, sim.Config{})
	a, b := r.ranks[0], r.ranks[1]
	var sends []*sending
	var offers []offer
	for i := range 4 {
		sends = append(sends, a.offer(1, pattern(i, 1000)))
		offers = append(offers, b.takeOffer())
	}
	b.offers = offers[:2:2] // the others are matched
	withdraw := func(i int, why error) {
		a.do(func() {
			if a.layer.Withdraw(&sends[i].Send, &a.sends[1], a.eps[1], why) {
				t.Errorf("offer %d was withdrawn without a question", i)
			}
		})
	}
	withdraw(1, errWhy)
	withdraw(1, errors.New("another reason"))
	withdraw(2, errWhy)
	r.settle()
	for i, want := range []int{0, 1, 0, 0} {
		if len(sends[i].told) != want {
			t.Errorf("send %d: its owner was told %v", i, sends[i].told)
		}
	}
	if sends[1].told[0] != errWhy || sends[1].mr != nil || a.layer.Counters().Withdrawn != 1 || len(b.offers) != 1 {
		t.Errorf("send 1: %v, %+v; %d offers are left", sends[1].told, a.layer.Counters(), len(b.offers))
	}
	pulls := []*pulling{b.pull(offers[2], 1000), b.pull(offers[0], 1000), b.pull(offers[3], 1000)}
	r.settle()
	for k, i := range []int{2, 0, 3} {
		pulls[k].check(t, pattern(i, 1000), 1000)
		if d := cmp.Diff([]error{nil}, sends[i].told); d != "" {
			t.Errorf("send %d (-want +got)\n%s", i, d)
		}
	}
	r.clean()
	if len(a.wrong) != 0 {
		t.Errorf("%v", a.wrong)
	}
	// A peer that lets go what nobody wants back lies.
	b.offers = nil
	s := a.offer(1, pattern(0, 1000))
	o := b.takeOffer()
	b.do(func() { b.layer.LetGo(b.eps[0], o.Extension) })
	r.settle()
	if len(a.wrong) != 1 || !errors.Is(a.wrong[0], ErrUnknown) || len(s.told) != 0 {
		t.Errorf("%v; the send has ended with %v", a.wrong, s.told)
	}
	b.pull(o, 1000)
	r.until("its end", func() bool { return len(s.told) == 1 })
	r.clean()
}

// A finish of what was not offered to that peer is an error and touches nothing:
// not another peer's offer, not one that has not left, not one that is finished.
func TestUnknownFinish(t *testing.T) {
	r := newRig(t, 3, sim.Config{})
	a, b, c := r.ranks[0], r.ranks[1], r.ranks[2]
	s := a.offer(1, pattern(0, 1000))
	o := b.takeOffer()
	finish := func(from *rank, name uint64) error {
		t.Helper()
		n := len(a.wrong)
		var out eager.Outgoing
		out.SetControl(eager.Header{Kind: eager.Finish}, eager.Extension{Name: name})
		from.do(func() { from.eps[0].Enqueue(&out) })
		r.settle()
		if len(a.wrong) == n {
			return nil
		}
		return a.wrong[n]
	}
	for _, v := range []struct {
		from *rank
		name uint64
	}{{b, o.Name + 1}, {b, 0}, {b, 1<<64 - 1}, {c, o.Name}} {
		if err := finish(v.from, v.name); !errors.Is(err, ErrUnknown) {
			t.Errorf("rank %d finishes offer %d: %v, want %v", v.from.id, v.name, err, ErrUnknown)
		}
	}
	if len(s.told) != 0 {
		t.Fatalf("the send has ended with %v", s.told)
	}
	if err := finish(b, o.Name); err != nil || len(s.told) != 1 {
		t.Errorf("the true finish: %v, %v", err, s.told)
	}
	if err := finish(b, o.Name); !errors.Is(err, ErrUnknown) || len(s.told) != 1 {
		t.Errorf("the finish once more: %v, %v", err, s.told)
	}
}

// A peer that finishes an offer which has not left lies: it can't have read it.
func TestFinishBeforeOffer(t *testing.T) {
	r := newRig(t, 2, sim.Config{})
	a, b := r.ranks[0], r.ranks[1]
	var sends []*sending
	for i := range 6 { // the send queue holds four
		sends = append(sends, a.offer(1, pattern(i, 1000)))
	}
	var err error
	a.do(func() { err = a.layer.Finished(&a.sends[1], 0, eager.Extension{Name: sends[5].name}) })
	if !errors.Is(err, ErrUnknown) || len(sends[5].told) != 0 {
		t.Errorf("finished before it was offered: %v, the owner was told %v", err, sends[5].told)
	}
	for i := range 6 {
		p := b.pull(b.takeOffer(), 1000)
		r.until("a transfer", func() bool { return len(sends[i].told) == 1 && len(p.told) == 1 })
		p.check(t, pattern(i, 1000), 1000)
	}
	r.clean()
}

// Sends whose offers wait for a connection that never stands end with its end.
func TestNobodyThere(t *testing.T) {
	r := newRig(t, 2, sim.Config{Device: sim.DeviceConfig{ConnectRetries: 10}})
	a, b := r.ranks[0], r.ranks[1]
	r.nw.Kill(b.dev)
	r.ranks = r.ranks[:1]
	var sends []*sending
	for i := range 8 {
		sends = append(sends, a.offer(1, pattern(i, 1000)))
	}
	r.until("the ends", func() bool { return len(a.lost) > 0 })
	r.settle()
	for i, s := range sends {
		if len(s.told) != 1 || !errors.Is(s.told[0], lostError(verbs.StatusRefused)) {
			t.Errorf("send %d was told %v", i, s.told)
		}
	}
	r.clean()
}

// No memory for a registration is an error of the offer, and nothing is left.
func TestOfferFails(t *testing.T) {
	r := newRig(t, 2, sim.Config{})
	a := r.ranks[0]
	if err := a.dev.Close(); err != nil {
		t.Fatal(err)
	}
	s := &sending{}
	s.Owner = s
	a.do(func() {
		err := a.layer.Offer(&s.Send, &a.sends[1], a.eps[1], 1, 2, pattern(0, 1000), nil)
		if want := "rendezvous: registering 1000 bytes: " + verbs.ErrClosed.Error(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
	if len(s.told) != 0 || a.layer.Counters() != (Counters{}) {
		t.Errorf("told %v, %+v", s.told, a.layer.Counters())
	}
	r.clean()
}
