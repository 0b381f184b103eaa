package rendezvous

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs/sim"
)

// offerKept offers memory that isn't spoiled at the end: it is sent again.
func (a *rank) offerKept(to int, mem []byte) *sending {
	s := a.offer(to, mem)
	s.mem = nil
	return s
}

// Many sends of one buffer share one registration, each with its own end, in
// whatever order their receivers finish them.
func TestSendsShareRegistration(t *testing.T) {
	r := newRig(t, 3, sim.Config{})
	a := r.ranks[0]
	before := counter(a.dev, "registrations")
	mem := pattern(1, 30_000)
	var sends []*sending
	for i := range 10 {
		sends = append(sends, a.offerKept(1+i%2, mem), a.offerKept(1+i%2, mem[1000:20_000]))
	}
	mr := sends[0].mr
	key, at := mr.Key(), mr.Addr()
	pulls := make([]*pulling, len(sends))
	names := map[[2]uint64]bool{}
	for n := 0; n < len(sends); n++ {
		var b *rank
		r.until("an offer", func() bool {
			b = r.ranks[1+n%2]
			return len(b.offers) > 0
		})
		last := len(b.offers) - 1 // the latest first
		o := b.offers[last]
		b.offers = b.offers[:last]
		names[[2]uint64{uint64(b.id), o.Name}] = true
		// A rank's offers are every second pair of all.
		i := int(o.Name - 1)
		if o.Key != key || o.Addr != at+uint64(i%2*1000) {
			t.Errorf("offer %+v, want address %#x and key %#x", o.Extension, at+uint64(i%2*1000), key)
		}
		pulls[i/2*4+(b.id-1)*2+i%2] = b.pull(o, 30_000)
	}
	if len(names) != len(sends) {
		t.Errorf("%d names for %d offers", len(names), len(sends))
	}
	r.until("all ends", func() bool {
		for i := range sends {
			if len(sends[i].told) == 0 || len(pulls[i].told) == 0 {
				return false
			}
		}
		return true
	})
	for i := range sends {
		if d := cmp.Diff([][]error{{nil}, {nil}}, [][]error{sends[i].told, pulls[i].told}); d != "" {
			t.Errorf("transfer %d (-want +got)\n%s", i, d)
		}
		pulls[i].check(t, [][]byte{mem, mem[1000:20_000]}[i%2], 30_000)
	}
	if n := counter(a.dev, "registrations") - before; n != 1 {
		t.Errorf("%d registrations, want 1", n)
	}
	if c := a.layer.Counters(); c.RegHits != 19 || c.RegMisses != 1 {
		t.Errorf("%+v", c)
	}
	r.settle()
	r.clean()
}

// A registration whose peer is lost is not kept: it may have the key.
func TestLostPeersKeyIsClosed(t *testing.T) {
	r := newRig(t, 2, sim.Config{})
	a, b := r.ranks[0], r.ranks[1]
	mem := pattern(1, 30_000)
	s := a.offerKept(1, mem)
	b.takeOffer()
	r.nw.Kill(b.dev)
	r.ranks = r.ranks[:1]
	r.until("the end", func() bool { return len(s.told) > 0 })
	if s.told[0] == nil || a.layer.cache.registered != 0 {
		t.Errorf("told %v, %d registrations are kept", s.told, a.layer.cache.registered)
	}
}

// A collector that runs all the time takes buffers away and gives their addresses to
// others: each message has the bytes that were sent. The simulation refuses what is
// not, or no longer, registered.
func TestCacheUnderCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	r := newRig(t, 2, sim.Config{})
	a, b := r.ranks[0], r.ranks[1]
	a.layer.cache.max, b.layer.cache.max = 20, 20
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { // takes addresses too
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				kept = make([]byte, 20_000)
			}
		}
	}()
	defer func() { close(stop); <-ended }()
	again := pattern(7, 20_000)
	for i := range 400 {
		mem, want := pattern(i, 20_000), pattern(i, 20_000)
		if i%4 == 0 {
			mem, want = again, again
		}
		s := a.offerKept(1, mem)
		p := b.pull(b.takeOffer(), 20_000)
		r.until(fmt.Sprint("transfer ", i), func() bool { return len(s.told) > 0 && len(p.told) > 0 })
		if s.told[0] != nil || p.told[0] != nil || !bytes.Equal(p.then[around:around+20_000], want) {
			t.Fatalf("transfer %d: told %v and %v, or wrong bytes", i, s.told, p.told)
		}
	}
	if c := a.layer.Counters(); c.RegHits < 50 || c.RegMisses < 300 {
		t.Errorf("%+v", c)
	}
	r.settle()
	r.clean()
}

var kept []byte
