package rendezvous

import (
	"errors"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// ledger is a device that knows what is registered.
type ledger struct {
	verbs.Device
	t    testing.TB
	live map[*booked]bool
	room int // registrations that it has room for; 0: any number
}

// booked is a registration of a ledger's.
type booked struct {
	verbs.MR
	ledger     *ledger
	base, size uint64
	access     verbs.Access
}

var errRoom = errors.New("no room")

func (l *ledger) Register(mem []byte, a verbs.Access) (verbs.MR, error) {
	if l.room != 0 && len(l.live) == l.room {
		return nil, errRoom
	}
	mr, err := l.Device.Register(mem, a)
	if err != nil {
		return nil, err
	}
	b := &booked{mr, l, addressOf(mem), uint64(len(mem)), a}
	l.live[b] = true
	return b, nil
}

func (b *booked) Close() error {
	if !b.ledger.live[b] {
		b.ledger.t.Errorf("a registration of %d bytes is closed twice", b.size)
	}
	delete(b.ledger.live, b)
	return b.MR.Close()
}

// newTestCache makes a cache of so many entries and bytes.
func newTestCache(t testing.TB, entries int, bytes uint64) (*cache, *ledger) {
	d := &ledger{Device: sim.New(sim.Config{}).NewDevice(), t: t, live: map[*booked]bool{}}
	c := newCache(d, new(Counters))
	c.max, c.maxBytes = entries, bytes
	t.Cleanup(c.close)
	return c, d
}

// get acquires, and checks what it gets.
func get(t testing.TB, c *cache, mem []byte, a verbs.Access) verbs.MR {
	t.Helper()
	mr, addr, err := c.acquire(mem, a)
	if err != nil {
		t.Fatal(err)
	}
	verify(t, c, mr, addr, mem, a)
	return mr
}

func verify(t testing.TB, c *cache, mr verbs.MR, addr uint64, mem []byte, a verbs.Access) {
	t.Helper()
	b, ok := mr.(*booked)
	if e, cached := mr.(*entry); cached {
		b, ok = e.MR.(*booked)
	}
	base, size := addressOf(mem), uint64(len(mem))
	switch {
	case !ok || !c.dev.(*ledger).live[b] || b.Key() != mr.Key():
		t.Error("what is in use is not registered")
	case b.access != a || base < b.base || base+size > b.base+b.size:
		t.Errorf("%d bytes lie outside of their registration, or it has other rights", size)
	case addr != b.Addr()+base-b.base:
		t.Errorf("address %#x in a registration at %#x", addr, b.Addr())
	}
}

func put(t testing.TB, mrs ...verbs.MR) {
	t.Helper()
	for _, mr := range mrs {
		if err := mr.Close(); err != nil {
			t.Error(err)
		}
	}
}

// expect compares the counters, and how many registrations there are.
func expect(t *testing.T, c *cache, hits, misses, evictions uint64, live int) {
	t.Helper()
	want := Counters{RegHits: hits, RegMisses: misses, RegEvictions: evictions}
	if d := cmp.Diff(want, *c.count); d != "" {
		t.Errorf("counters (-want +got)\n%s", d)
	}
	if n := len(c.dev.(*ledger).live); n != live {
		t.Errorf("%d registrations, want %d", n, live)
	}
}

// A range is found again, whole and in part, while it is in use and when it is not,
// for what it was registered for.
func TestCacheHits(t *testing.T) {
	c, _ := newTestCache(t, 10, 1<<20)
	mem := make([]byte, 10_000)
	a := get(t, c, mem[1000:5000], verbs.AccessRead)
	expect(t, c, 0, 1, 0, 1)
	put(t, get(t, c, mem[1000:5000], verbs.AccessRead), get(t, c, mem[1000:1001], verbs.AccessRead))
	put(t, a, get(t, c, mem[4999:5000], verbs.AccessRead))
	expect(t, c, 3, 1, 0, 1)
	put(t, get(t, c, mem[1000:5000], verbs.AccessRead))
	expect(t, c, 4, 1, 0, 1)
	put(t, get(t, c, mem[1000:5000], verbs.AccessLocal)) // another right
	expect(t, c, 4, 2, 0, 2)
	put(t, get(t, c, mem[1000:5001], verbs.AccessRead)) // a byte more takes its place
	expect(t, c, 4, 3, 0, 2)
	put(t, get(t, c, mem[999:5000], verbs.AccessRead)) // overlaps
	expect(t, c, 4, 4, 0, 3)
	put(t, get(t, c, mem, verbs.AccessRead)) // takes the place of both
	expect(t, c, 4, 5, 0, 2)
	put(t, get(t, c, mem[1:], verbs.AccessRead))
	expect(t, c, 5, 5, 0, 2)
	runtime.KeepAlive(mem)
}

// A larger range doesn't take the place of a smaller one that is in use.
func TestCacheLargerBesideUse(t *testing.T) {
	c, _ := newTestCache(t, 10, 1<<20)
	mem := make([]byte, 10_000)
	small := get(t, c, mem[:100], verbs.AccessRead)
	put(t, get(t, c, mem, verbs.AccessRead))
	expect(t, c, 0, 2, 0, 2)
	put(t, get(t, c, mem[:100], verbs.AccessRead), small) // in the larger one
	expect(t, c, 1, 2, 0, 2)
}

// Idle registrations go when there are too many, the one that was used the longest
// ago first; what is in use stays, however much it is.
func TestCacheEviction(t *testing.T) {
	for _, v := range []struct {
		entries int
		bytes   uint64
	}{{2, 1 << 21}, {10, 2500}} {
		c, _ := newTestCache(t, v.entries, v.bytes)
		m := make([][]byte, 4)
		var mrs []verbs.MR
		for i := range m {
			m[i] = make([]byte, 1000)
			mrs = append(mrs, get(t, c, m[i], verbs.AccessRead))
		}
		expect(t, c, 0, 4, 0, 4)
		put(t, mrs[2], mrs[0])
		expect(t, c, 0, 4, 2, 2)
		put(t, mrs[3], mrs[1])
		put(t, get(t, c, m[1], verbs.AccessRead), get(t, c, m[3], verbs.AccessRead))
		expect(t, c, 2, 4, 2, 2)
		put(t, get(t, c, m[0], verbs.AccessRead)) // in place of m[1]
		put(t, get(t, c, m[3], verbs.AccessRead))
		expect(t, c, 3, 5, 3, 2)
		put(t, get(t, c, make([]byte, 1<<20), verbs.AccessRead)) // in place of one, or of all, and of itself
		if v.entries == 10 {
			expect(t, c, 3, 6, 6, 0)
		} else {
			expect(t, c, 3, 6, 4, 2)
		}
		runtime.KeepAlive(m)
	}
}

// When the device has no room, idle registrations give way, of either kind.
func TestCacheGivesWay(t *testing.T) {
	c, d := newTestCache(t, 10, 1<<20)
	d.room = 3
	mem := make([]byte, 5000)
	a := get(t, c, mem[:1000], verbs.AccessRead)
	put(t, get(t, c, mem[1000:2000], verbs.AccessLocal), get(t, c, mem[2000:3000], verbs.AccessRead))
	b := get(t, c, mem[3000:4000], verbs.AccessRead)
	expect(t, c, 0, 4, 1, 3)
	e := get(t, c, mem[4000:5000], verbs.AccessLocal)
	expect(t, c, 0, 5, 2, 3)
	if _, _, err := c.acquire(mem[500:1500], verbs.AccessRead); !errors.Is(err, errRoom) {
		t.Errorf("with everything in use: %v", err)
	}
	put(t, a, b, e)
	put(t, get(t, c, mem[:1000], verbs.AccessRead))
	expect(t, c, 1, 5, 2, 3)
}

// What is forgotten isn't found, and is closed with its last use.
func TestCacheForget(t *testing.T) {
	c, _ := newTestCache(t, 10, 1<<20)
	mem := make([]byte, 1000)
	a, b := get(t, c, mem, verbs.AccessRead), get(t, c, mem, verbs.AccessRead)
	forget(a)
	put(t, a)
	expect(t, c, 1, 1, 0, 1)
	put(t, get(t, c, mem, verbs.AccessRead))
	expect(t, c, 1, 2, 0, 2)
	forget(b)
	put(t, b)
	expect(t, c, 1, 2, 0, 1)
	put(t, get(t, c, mem, verbs.AccessRead))
	expect(t, c, 2, 2, 0, 1)
}

// Memory that is collected is deregistered at the next use; while it is in use the
// cache keeps it.
func TestCacheCollected(t *testing.T) {
	c, _ := newTestCache(t, 10, 1<<20)
	other := make([]byte, 10)
	a := get(t, c, make([]byte, 100_000), verbs.AccessRead)
	put(t, get(t, c, make([]byte, 100_000), verbs.AccessLocal))
	collected(t, c, 1)
	if len(a.(*entry).mem) != 100_000 || !a.(*entry).alive() {
		t.Fatal("memory was collected while it was in use")
	}
	put(t, get(t, c, other, verbs.AccessRead))
	expect(t, c, 0, 3, 0, 2)
	put(t, a)
	collected(t, c, 1)
	put(t, get(t, c, other, verbs.AccessRead))
	expect(t, c, 1, 3, 0, 1)
}

// collected waits until so many entries were collected, beside those that the
// cache has drained.
func collected(t testing.TB, c *cache, n int) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		c.gone.mu.Lock()
		got := len(c.gone.entries)
		c.gone.mu.Unlock()
		if got >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%d entries were not collected", n)
}

// The address of a collected object is soon another's, before anybody has heard of
// the end: that is a miss.
func TestCacheAddressAgain(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	again := 0
	for range 20 {
		c, _ := newTestCache(t, 10, 1<<30)
		at := func() uint64 {
			mem := make([]byte, 1<<16)
			for _, a := range []verbs.Access{verbs.AccessRead, verbs.AccessLocal} {
				mr := get(t, c, mem, a)
				mr.(*entry).cleanup.Stop() // nobody will hear
				put(t, mr)
			}
			return addressOf(mem)
		}()
		runtime.GC()
		for range 50 {
			mem := make([]byte, 1<<16)
			if addressOf(mem) != at {
				continue
			}
			again++
			put(t, get(t, c, mem[100:], verbs.AccessRead))
			expect(t, c, 0, 3, 0, 1) // the one for local use is gone too
			put(t, get(t, c, mem[100:], verbs.AccessRead))
			expect(t, c, 1, 3, 0, 1)
			break
		}
	}
	if again == 0 {
		t.Error("no address was used again: the test shows nothing")
	}
}

var global [10_000]byte

// Memory of a package variable is never collected; it is cached like other memory.
func TestCacheGlobal(t *testing.T) {
	c, _ := newTestCache(t, 10, 1<<20)
	put(t, get(t, c, global[:], verbs.AccessRead), get(t, c, global[10:20], verbs.AccessRead))
	runtime.GC()
	put(t, get(t, c, global[:], verbs.AccessRead))
	expect(t, c, 2, 1, 0, 1)
}
