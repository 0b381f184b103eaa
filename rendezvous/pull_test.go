package rendezvous

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// A message is offered, read and finished: as many bytes as were sent and there
// is room for, and both owners hear once.
func TestTransfer(t *testing.T) {
	sizes := []int{1, 64, 4096, 16<<10 - 1, 16 << 10, 16<<10 + 1, 100_003}
	for _, sent := range sizes {
		for _, room := range []int{0, 1, sent - 1, sent, sent + 1, 3 * sent} {
			r := newRig(t, 2, sim.Config{})
			a, b := r.ranks[0], r.ranks[1]
			want := pattern(sent, sent)
			s := a.offer(1, bytes.Clone(want))
			o := b.takeOffer()
			if o.from != 0 || o.Context != 1 || o.Tag != 2 || o.Seq != 1 || o.Length != uint64(sent) {
				t.Errorf("offer %+v of %d bytes", o, sent)
			}
			if len(s.told) != 0 {
				t.Fatal("the send is over before it was pulled")
			}
			p := b.pull(o, room)
			r.until(fmt.Sprintf("%d bytes into %d", sent, room), func() bool { return len(s.told) > 0 && len(p.told) > 0 })
			r.settle()
			if d := cmp.Diff([][]error{{nil}, {nil}}, [][]error{s.told, p.told}); d != "" {
				t.Errorf("%d bytes into %d: owners (-want +got)\n%s", sent, room, d)
			}
			p.check(t, want, room)
			if got, want := counter(b.dev, "read_bytes"), uint64(min(sent, room)); got != want {
				t.Errorf("%d bytes into %d: %d were read", sent, room, got)
			}
			misses := uint64(min(room, 1))
			if d := cmp.Diff([]Counters{{Offers: 1, Finishes: 1, RegMisses: 1}, {Pulls: 1, RegMisses: misses}}, []Counters{a.layer.Counters(), b.layer.Counters()}); d != "" {
				t.Errorf("counters (-want +got)\n%s", d)
			}
			r.clean()
		}
	}
}

func counter(d verbs.Counted, name string) (v uint64) {
	d.Counters(func(n string, value uint64) bool {
		if n == name {
			v = value
		}
		return true
	})
	return v
}

// Many messages both ways, pulled in random order and with random room, through
// send queues of four places.
func TestManyTransfers(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 4))
		r := newRig(t, 3, sim.Config{Seed: seed, Device: sim.DeviceConfig{ReadsOpen: 2}})
		type transfer struct {
			*sending
			*pulling
			want []byte
			room int
		}
		byOrder := map[[3]int]*transfer{} // from, to, number
		const each = 25
		var all []*transfer
		for i := range each {
			for from := range r.ranks {
				for to := range r.ranks {
					if from == to {
						continue
					}
					x := &transfer{want: pattern(i*from+to, 1+rng.IntN(40_000))}
					x.sending = r.ranks[from].offer(to, bytes.Clone(x.want))
					byOrder[[3]int{from, to, i + 1}] = x
					all = append(all, x)
				}
			}
		}
		left := len(all)
		for turns := 0; left > 0; turns++ {
			if turns == 100_000 {
				t.Fatalf("seed %d: %d offers did not come\n%s", seed, left, r.state())
			}
			to := rng.IntN(3)
			b := r.ranks[to]
			if n := len(b.offers); n > 0 && (rng.IntN(4) == 0 || n > 10) {
				i := rng.IntN(n)
				o := b.offers[i]
				b.offers = append(b.offers[:i], b.offers[i+1:]...)
				x := byOrder[[3]int{o.from, to, int(o.Seq)}]
				x.room = rng.IntN(len(x.want) + 100)
				x.pulling = b.pull(o, x.room)
				left--
			}
			r.turn()
		}
		r.until("all transfers", func() bool {
			for _, x := range all {
				if len(x.sending.told) == 0 || len(x.pulling.told) == 0 {
					return false
				}
			}
			return true
		})
		r.settle()
		for i, x := range all {
			if d := cmp.Diff([][]error{{nil}, {nil}}, [][]error{x.sending.told, x.pulling.told}); d != "" {
				t.Errorf("seed %d, transfer %d: owners (-want +got)\n%s", seed, i, d)
			}
			x.check(t, x.want, x.room)
		}
		r.clean()
	}
}

// A receiver whose device won't read says so: the sender gets ErrRefused, and the
// connection stays.
func TestReadFails(t *testing.T) {
	r := newRig(t, 2, sim.Config{Device: sim.DeviceConfig{MaxRead: 1000}})
	a, b := r.ranks[0], r.ranks[1]
	s := a.offer(1, pattern(0, 2000))
	p := b.pull(b.takeOffer(), 1001)
	r.until("the ends", func() bool { return len(s.told) > 0 && len(p.told) > 0 })
	if len(s.told) != 1 || !errors.Is(s.told[0], ErrRefused) {
		t.Errorf("the sender was told %v, want %v", s.told, ErrRefused)
	}
	if len(p.told) != 1 || !errors.Is(p.told[0], ErrRead) {
		t.Errorf("the receiver was told %v, want %v", p.told, ErrRead)
	}
	p.check(t, nil, 1001)
	s = a.offer(1, pattern(1, 2000))
	p = b.pull(b.takeOffer(), 1000)
	r.until("the next transfer", func() bool { return len(s.told) > 0 && len(p.told) > 0 })
	p.check(t, pattern(1, 2000), 1000)
	if d := cmp.Diff([][]error{{nil}, {nil}}, [][]error{s.told, p.told}); d != "" || len(a.lost) != 0 {
		t.Errorf("after a read that failed: lost %v, owners (-want +got)\n%s", a.lost, d)
	}
	r.settle()
	r.clean()
}

// A read by a wrong key, as of a peer that lies, fails and takes no more than its
// own connection with it.
func TestWrongKey(t *testing.T) {
	for _, change := range []func(*eager.Extension){
		func(x *eager.Extension) { x.Key++ },
		func(x *eager.Extension) { x.Addr-- },
		func(x *eager.Extension) { x.Addr += x.Length },
		func(x *eager.Extension) { x.Addr = 1<<64 - 1 },
		func(x *eager.Extension) { x.Length = 1<<64 - 1 },
	} {
		r := newRig(t, 3, sim.Config{})
		a, b, c := r.ranks[0], r.ranks[1], r.ranks[2]
		s := a.offer(1, pattern(0, 1000))
		o := b.takeOffer()
		change(&o.Extension)
		p := b.pull(o, 1200)
		r.until("the ends", func() bool { return len(s.told) > 0 && len(p.told) > 0 })
		if len(p.told) != 1 || !errors.Is(p.told[0], ErrRead) {
			t.Errorf("the receiver was told %v", p.told)
		}
		if len(s.told) != 1 || s.told[0] == nil {
			t.Errorf("the sender was told %v", s.told)
		}
		s2 := a.offer(2, pattern(1, 1000))
		p2 := c.pull(c.takeOffer(), 1000)
		r.until("another transfer", func() bool { return len(s2.told) > 0 && len(p2.told) > 0 })
		p2.check(t, pattern(1, 1000), 1000)
		r.settle()
		r.clean()
	}
}

// Memory that is pulled into is pinned until the owner is told, and so is what is
// offered: a device has only addresses.
func TestKeepsMemory(t *testing.T) {
	var s Send
	var p Pull
	if unsafe.Sizeof(s.pin) == 0 || unsafe.Sizeof(p.pin) == 0 {
		t.Fatal("no pinner")
	}
	r := newRig(t, 2, sim.Config{})
	a, b := r.ranks[0], r.ranks[1]
	x := a.offer(1, pattern(0, 100))
	if x.Send.mem == nil {
		t.Error("an offer does not keep its memory")
	}
	q := b.pull(b.takeOffer(), 100)
	if q.dst == nil || q.wr[0].Data == nil {
		t.Error("a pull does not keep its memory")
	}
	r.until("the ends", func() bool { return len(x.told) > 0 && len(q.told) > 0 })
	if x.Send.mem != nil || q.dst != nil || q.wr[0].Data != nil {
		t.Error("memory is kept after the end: pooled requests would leak it")
	}
}

// A message of no bytes is offered and finished as others are, though there is no memory
// that a device would register: twice, so that the second finds the first's.
func TestTransferNothing(t *testing.T) {
	for _, room := range []int{0, 5} {
		r := newRig(t, 2, sim.Config{})
		a, b := r.ranks[0], r.ranks[1]
		for range 2 {
			s := a.offer(1, nil)
			o := b.takeOffer()
			if o.Length != 0 {
				t.Errorf("an offer of %d bytes", o.Length)
			}
			if len(s.told) != 0 {
				t.Fatal("the send is over before it was pulled")
			}
			p := b.pull(o, room)
			r.until("nothing", func() bool { return len(s.told) > 0 && len(p.told) > 0 })
			if d := cmp.Diff([][]error{{nil}, {nil}}, [][]error{s.told, p.told}); d != "" {
				t.Errorf("owners (-want +got)\n%s", d)
			}
			p.check(t, nil, room)
		}
		if got := counter(b.dev, "read_bytes"); got != 0 {
			t.Errorf("%d bytes were read", got)
		}
		r.clean()
	}
}
