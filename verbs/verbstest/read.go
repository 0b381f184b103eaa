package verbstest

import (
	"errors"
	"slices"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var readTests = []test{
	{"ReadSizes", testReadSizes},
	{"ReadEmpty", testReadEmpty},
	{"ReadAlloc", testReadAlloc},
	{"ReadManyInFlight", testReadManyInFlight},
	{"ReadBetweenMessages", testReadBetweenMessages},
	{"ReadTwoPeers", testReadTwoPeers},
	{"ReadBothWays", testReadBothWays},
	{"ReadTooLong", testReadTooLong},
	{"ReadSleepingTarget", testReadSleepingTarget},
	{"ReadSeesStores", testReadSeesStores},
	{"CompletionOrder", testCompletionOrder},
}

// Sizes from 1 byte to several MiB, at odd offsets on both sides.
func testReadSizes(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	src := r.newSource(1, 4<<20+99)
	for _, n := range []int{
		1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 129, 1000, 4095, 4096, 4097, 16<<10 - 1, 16<<10 + 1,
		65536, 65539, 256<<10 + 5, 1 << 20, 1<<20 + 1, 4 << 20, 4<<20 + 7,
	} {
		if limit := a.side.attr.MaxRead; limit > 0 && int64(n) > limit {
			break
		}
		for _, off := range []int{0, 1, 64, 91} {
			r.arrived(r.read(a, src, off, n, off%17), src, off)
			if n > 65536 {
				break
			}
		}
	}
}

func testReadEmpty(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	src := r.newSource(1, 100)
	r.arrived(r.read(a, src, 0, 0, 0), src, 0)
	r.arrived(r.read(a, src, 3, 10, 0), src, 3)
}

// Memory of the device's own is zeroed, aligned, and can be read in parts.
func testReadAlloc(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	al, ok := b.side.dev.(verbs.Allocator)
	if !ok {
		t.Skip("the device has no memory of its own")
	}
	r.ping(a, b)
	var mems [][]byte
	for _, n := range []int{1, 64, 5000, 1 << 20, 3<<20 + 1} {
		mem, err := al.Alloc(n)
		r.check(err)
		if len(mem) != n || !aligned64(mem) {
			t.Fatalf("Alloc(%d) gave %d bytes, 64-aligned: %v", n, len(mem), aligned64(mem))
		}
		if slices.ContainsFunc(mem, func(c byte) bool { return c != 0 }) {
			t.Fatalf("Alloc(%d) gave memory that is not zeroed", n)
		}
		src := r.register(1, mem)
		r.arrived(r.read(a, src, 0, n, 1), src, 0)
		part := r.register(1, mem[n/3:n/2+1])
		fill(part.mem, part.seed)
		r.arrived(r.read(a, part, 0, len(part.mem), 0), part, 0)
		r.check(part.mr.Close())
		r.check(src.mr.Close())
		mems = append(mems, mem)
	}
	for _, mem := range mems {
		r.check(al.Free(mem))
	}
	mem, err := al.Alloc(1 << 20)
	r.check(err)
	if slices.ContainsFunc(mem, func(c byte) bool { return c != 0 }) {
		t.Fatal("Alloc after Free gave memory that is not zeroed")
	}
	r.check(al.Free(mem))
}

// More reads than the queue is deep, of random parts.
func testReadManyInFlight(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{depth: 8})
	r.ping(a, b)
	src := r.newSource(1, 300<<10)
	rng := newRand(r.seed)
	type part struct {
		tg  *target
		off int
	}
	var parts []part
	for range 60 {
		n := 1 + rng.IntN(100<<10)
		off := rng.IntN(len(src.mem) - n)
		parts = append(parts, part{r.read(a, src, off, n, rng.IntN(20)), off})
	}
	for _, p := range parts {
		r.arrived(p.tg, src, p.off)
	}
}

// Messages go on while reads are under way.
func testReadBetweenMessages(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	src := r.newSource(1, 1<<20)
	rng := newRand(r.seed)
	a.auto, b.auto = true, true
	for range 8 {
		var tgs []*target
		for i := range 3 {
			a.plan(randomSpec(rng, a))
			tgs = append(tgs, r.read(a, src, i, len(src.mem)-i, i))
			for range 10 {
				a.plan(randomSpec(rng, a))
				b.plan(randomSpec(rng, b))
			}
		}
		for i, tg := range tgs {
			r.arrived(tg, src, i)
		}
	}
	r.exchange(a, b)
}

func testReadTwoPeers(t *testing.T, h Harness) {
	r := newRig(t, h, 3, shape{})
	a, ca := r.connect(0, 2)
	b, cb := r.connect(1, 2)
	r.ping(a, ca)
	r.ping(b, cb)
	src := r.newSource(2, 2<<20+1)
	own := r.newSource(2, 777<<10)
	for range 4 {
		x := r.read(a, src, 0, len(src.mem), 0)
		y := r.read(b, src, 1, len(src.mem)-1, 3)
		z := r.read(b, own, 0, len(own.mem), 0)
		r.arrived(z, own, 0)
		r.arrived(y, src, 1)
		r.arrived(x, src, 0)
	}
}

func testReadBothWays(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	sa, sb := r.newSource(0, 1<<20), r.newSource(1, 1<<20)
	for i := range 4 {
		x, y := r.read(a, sb, i, len(sb.mem)-i, 0), r.read(b, sa, 0, len(sa.mem), i)
		r.arrived(x, sb, i)
		r.arrived(y, sa, 0)
	}
}

func testReadTooLong(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	limit := a.side.attr.MaxRead
	if limit <= 0 || limit > 64<<20 {
		t.Skipf("Attr.MaxRead is %d: too much memory to try more", limit)
	}
	src := r.newSource(1, int(limit)+1)
	tg := r.newTarget(a, int(limit)+1, 0)
	if err := tg.try(src.at(0)); !errors.Is(err, verbs.ErrTooLong) {
		t.Fatalf("a read of %d bytes: %v, want ErrTooLong", limit+1, err)
	}
	r.arrived(r.read(a, src, 1, int(limit), 0), src, 1)
}

// A target that sleeps, armed for solicited events, is either not needed or
// woken.
func testReadSleepingTarget(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	w := newWaker(r, b.side)
	r.ping(a, b)
	src := r.newSource(1, 1<<20)
	b.side.idle = true
	w.arm(b.side.rcq, verbs.Solicited)
	wakes := 0
	for range 3 {
		tg := r.read(a, src, 0, len(src.mem), 0)
		r.until("the read from a sleeping target", func() bool {
			if w.woken() {
				wakes++
				b.side.idle = false
				w.arm(b.side.rcq, verbs.Solicited)
				b.side.idle = true
			}
			return tg.done()
		})
		r.arrived(tg, src, 0)
	}
	t.Logf("the target was woken %d times", wakes)
}

// A read brings what the memory holds when it is posted, not what it held when
// it was registered or read before.
func testReadSeesStores(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{})
	r.ping(a, b)
	for _, n := range []int{100, 10_000, 300_000} {
		src := r.newSource(1, n)
		for range 5 {
			r.arrived(r.read(a, src, 0, n, 0), src, 0)
			src.seed++
			fill(src.mem, src.seed)
		}
	}
}

// Sends and reads of one queue pair complete in the order posted.
func testCompletionOrder(t *testing.T, h Harness) {
	r, a, b := newPair(t, h, shape{depth: 32})
	r.ping(a, b)
	src := r.newSource(1, 200<<10)
	a.order = nil
	var want []uint64
	for i := range 8 {
		tg := r.read(a, src, i, len(src.mem)-i, 0)
		want = append(want, tg.id)
		for range 2 {
			want = append(want, uint64(len(a.out)))
			a.plan(spec{data: 20 + i, flags: verbs.Signaled})
		}
		r.until("the messages to be taken", func() bool {
			r.check(a.post(len(a.out)))
			return a.posted == len(a.out)
		})
	}
	r.until("the reads", func() bool { return len(a.order) == len(want) })
	if !slices.Equal(a.order, want) {
		t.Errorf("completed in order\n%#x, posted in order\n%#x", a.order, want)
	}
	r.exchange(a)
}
