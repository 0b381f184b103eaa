package srq

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// more is how many slots there are besides for each peer.
const more = ownCredits + controlSlots

// fakeDevice makes receive queues that note what is reposted.
type fakeDevice struct {
	verbs.Device
	made []*fakeRQ
	fail error
}

func (d *fakeDevice) NewRQ(c verbs.RQConfig) (verbs.RQ, error) {
	if d.fail != nil {
		return nil, d.fail
	}
	q := &fakeRQ{cfg: c}
	d.made = append(d.made, q)
	return q, nil
}

type fakeRQ struct {
	cfg     verbs.RQConfig
	batches [][]verbs.Slot
	posted  int
	repost  func(n int)
}

func (q *fakeRQ) Repost(s []verbs.Slot) {
	q.batches = append(q.batches, slices.Clone(s))
	if q.repost != nil {
		q.repost(len(s))
	}
}
func (q *fakeRQ) Posted() int { return q.posted }

// Slots are reposted in batches: an eighth of the queue, at most 16.
func TestBatches(t *testing.T) {
	for _, v := range []struct{ slots, every, low int }{
		{1, 1, 0}, {2, 1, 0}, {4, 1, 1}, {8, 1, 2}, {15, 1, 3}, {16, 2, 4}, {64, 8, 16}, {128, 16, 32}, {1 << 20, 16, 1 << 18},
	} {
		for _, mode := range []Mode{Auto, Shared, PerPeer} {
			d := &fakeDevice{}
			p, err := New(d, Config{Mode: mode, Slots: v.slots, SlotSize: 100})
			if err != nil {
				t.Fatal(err)
			}
			q, err := p.Queue()
			if err != nil {
				t.Fatal(err)
			}
			rq := d.made[0]
			if d := cmp.Diff(verbs.RQConfig{Shared: mode != PerPeer, Slots: v.slots + more, SlotSize: 100, Low: v.low}, rq.cfg); d != "" {
				t.Errorf("%d slots: the device's queue (-want +got)\n%s", v.slots, d)
			}
			var want [][]verbs.Slot
			for i := range 3*v.every + 1 {
				s := verbs.Slot(i % v.slots)
				q.Release(s)
				if i%v.every == 0 {
					want = append(want, nil)
				}
				want[len(want)-1] = append(want[len(want)-1], s)
			}
			want, rest := want[:3], want[3:]
			if v.every == 1 {
				want, rest = append(want, rest...), nil
			}
			if d := cmp.Diff(want, rq.batches); d != "" {
				t.Errorf("%d slots: batches (-want +got)\n%s", v.slots, d)
			}
			q.Flush()
			q.Flush()
			if d := cmp.Diff(append(want, rest...), rq.batches); d != "" {
				t.Errorf("%d slots: batches after a flush (-want +got)\n%s", v.slots, d)
			}
			if got, want := p.Counters(), (Counters{Released: uint64(3*v.every + 1), Reposts: 4}); got != want {
				t.Errorf("%d slots: %+v, want %+v", v.slots, got, want)
			}
		}
	}
}

// A message that took no slot gives none back.
func TestNoSlot(t *testing.T) {
	d := &fakeDevice{}
	p, _ := New(d, Config{Slots: 1, SlotSize: 1})
	q, _ := p.Queue()
	q.Release(verbs.NoSlot)
	q.Flush()
	if len(d.made[0].batches) != 0 || p.Counters() != (Counters{}) {
		t.Errorf("reposted %v, %+v", d.made[0].batches, p.Counters())
	}
}

// From the low-watermark event on nothing is kept back, until as many slots are
// posted again: a slot that is kept back may be the only one.
func TestLow(t *testing.T) {
	d := &fakeDevice{}
	p, _ := New(d, Config{Slots: 256, SlotSize: 1})
	q, _ := p.Queue()
	rq := d.made[0]
	q.Release(3)
	q.Release(5)
	rq.posted = 62
	q.Low()
	q.Low()
	q.Release(6)
	rq.posted = 64
	q.Release(7)
	q.Release(8)
	if d := cmp.Diff([][]verbs.Slot{{3, 5}, {6}, {7}}, rq.batches); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got, want := p.Counters(), (Counters{Released: 5, Reposts: 3, Lows: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A shared queue is made once, and a queue per peer for each peer: what the
// memory is accordingly.
func TestModes(t *testing.T) {
	for _, v := range []struct {
		mode, is Mode
		shared   bool
		atOnce   int64
		forThree int64
	}{
		{Auto, Shared, true, (4 + 3*more) * 100, (4 + 3*more) * 100},
		{Shared, Shared, true, (4 + 3*more) * 100, (4 + 3*more) * 100},
		{PerPeer, PerPeer, false, 0, 3 * (4 + more) * 100},
	} {
		p, err := New(&fakeDevice{}, Config{Mode: v.mode, Slots: 4, SlotSize: 100, Peers: 3})
		if err != nil {
			t.Fatal(err)
		}
		if p.Mode() != v.is || p.Bytes() != v.atOnce {
			t.Errorf("%v: mode %v, %d bytes", v.mode, p.Mode(), p.Bytes())
		}
		queues := map[*Queue]bool{}
		for range 3 {
			q, err := p.Queue()
			if err != nil {
				t.Fatal(err)
			}
			queues[q] = true
		}
		if (len(queues) == 1) != v.shared || p.Bytes() != v.forThree {
			t.Errorf("%v: %d queues for 3 peers, %d bytes", v.mode, len(queues), p.Bytes())
		}
	}
}

// The device's refusal says which queue it refused.
func TestNoMemory(t *testing.T) {
	d := &fakeDevice{fail: verbs.ErrNoMemory}
	_, err := New(d, Config{Slots: 7, SlotSize: 9})
	if want := "srq: 11 slots of 9 bytes: " + verbs.ErrNoMemory.Error(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	p, err := New(d, Config{Mode: PerPeer, Slots: 7, SlotSize: 9})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Queue(); err == nil {
		t.Error("a queue without memory")
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range []Mode{Auto, Shared, PerPeer} {
		if got, err := ParseMode(m.String()); err != nil || got != m {
			t.Errorf("%v: %v, %v", m, got, err)
		}
	}
	_, err := ParseMode("both")
	if want := `"both" is not a kind of receive queue: want srq or peer`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Over a real device: however few the slots, and however they are released,
// all messages come, none of them twice, and in the end all slots are posted.
func TestDevice(t *testing.T) {
	for _, mode := range []Mode{Shared, PerPeer} {
		for _, slots := range []int{1, 2, 3, 8, 40} {
			for _, hold := range []int{0, 1, slots - 1} {
				t.Run(fmt.Sprintf("%v/%d slots/%d held", mode, slots, hold), func(t *testing.T) {
					overDevice(t, mode, slots, min(hold, slots-1))
				})
			}
		}
	}
}

func overDevice(t *testing.T, mode Mode, slots, hold int) {
	const senders, count = 3, 100
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	nw := sim.New(sim.Config{Seed: 1})
	dev := nw.NewDevice()
	cq, err := dev.NewCQ(1000)
	must(err)
	p, err := New(dev, Config{Mode: mode, Slots: slots, SlotSize: 64})
	must(err)
	queues := map[uint32]*Queue{}
	var peers []verbs.QP
	for i := range uint32(senders) {
		q, err := p.Queue()
		must(err)
		qp, err := dev.NewQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, RQ: q.RQ()})
		must(err)
		queues[qp.Num()] = q
		far := nw.NewDevice()
		farCQ, err := far.NewCQ(1000)
		must(err)
		farRQ, err := far.NewRQ(verbs.RQConfig{Slots: 1, SlotSize: 64})
		must(err)
		farQP, err := far.NewQP(verbs.QPConfig{SendCQ: farCQ, RecvCQ: farCQ, RQ: farRQ, Depth: count})
		must(err)
		must(farQP.Connect(dev.Addr(), i, 100+i))
		must(qp.Connect(far.Addr(), 100+i, i))
		peers = append(peers, farQP)
	}
	for _, qp := range peers {
		for i := range count {
			_, err := qp.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: []byte{byte(i)}}})
			must(err)
		}
	}
	type taken struct {
		q *Queue
		s verbs.Slot
	}
	var held []taken
	next := map[uint32]byte{}
	got := 0
	for turns := 0; got < senders*count; turns++ {
		if turns == 100_000 {
			t.Fatalf("%d of %d messages came", got, senders*count)
		}
		var c [8]verbs.Completion
		for _, c := range c[:cq.Poll(c[:])] {
			q := queues[c.QP]
			switch c.Op {
			case verbs.OpLow:
				q.Low()
			case verbs.OpRecv:
				if c.Data[0] != next[c.QP] {
					t.Fatalf("queue pair %d: message %d, want %d", c.QP, c.Data[0], next[c.QP])
				}
				next[c.QP]++
				got++
				if held = append(held, taken{q, c.Slot}); len(held) > hold {
					held[0].q.Release(held[0].s)
					held = held[1:]
				}
			}
		}
		nw.Step()
	}
	for _, h := range held {
		h.q.Release(h.s)
	}
	for _, q := range queues {
		q.Flush()
		if n := q.RQ().Posted(); n != q.Slots() {
			t.Errorf("%d of %d slots are posted", n, q.Slots())
		}
	}
	if c := p.Counters(); c.Released != senders*count || hold < slots/2 && slots > 15 && c.Reposts > c.Released/2+c.Lows+2*senders {
		t.Errorf("%+v", c)
	}
}
