package tcp

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

func (n *node) counter(name string) (value uint64) {
	n.dev.Counters(func(have string, v uint64) bool {
		value = v
		return have != name
	})
	return value
}

// A lone message leaves at once. What is posted right behind it waits for a poll, and
// leaves together.
func TestCoalescing(t *testing.T) {
	x, y := newDuo(t, normal)
	within(t, "two posts in a row that nothing came between", func() bool {
		x.poll()
		calls, waited := x.counter("calls.send"), x.counter("coalesced")
		x.send(t, []byte("first"))
		if x.counter("calls.send") != calls+1 {
			t.Fatal("a lone message doesn't leave at once")
		}
		for range 50 {
			x.send(t, []byte("more"))
		}
		together := x.counter("coalesced") == waited+50 && x.counter("calls.send") == calls+1
		x.poll()
		if together && x.counter("calls.send") != calls+2 {
			t.Errorf("50 messages left by %d calls", x.counter("calls.send")-calls-1)
		}
		y.receive(t, 51)
		return together // else this goroutine was away for longer than a moment
	})
}

// What waits leaves although nobody polls.
func TestLate(t *testing.T) {
	x, y := newDuo(t, normal)
	for range 20 {
		x.poll()
		for range 5 {
			x.send(t, []byte("late"))
		}
		y.receive(t, 5) // x isn't polled
	}
}

// Many bytes don't wait.
func TestCoalescingIsBounded(t *testing.T) {
	x, y := newDuo(t, normal)
	x.poll()
	before := x.counter("calls.send")
	for range 40 {
		x.send(t, make([]byte, 1000))
	}
	if calls := x.counter("calls.send") - before; calls < 3 {
		t.Errorf("40 KB left by %d calls before anybody polled", calls)
	}
	y.receive(t, 40)
}

// Sends of all lengths around the edges, in order and whole.
func TestLengths(t *testing.T) {
	x, y := newDuo(t, normal)
	var sizes []int
	for _, edge := range []int{0, 16, 4064, 8 << 10, 16 << 10, 20 << 10, 48 << 10, 64 << 10} {
		for d := -9; d <= 9; d++ {
			if n := edge + d; n >= 0 && n <= 64<<10 {
				sizes = append(sizes, n)
			}
		}
	}
	for i, n := range sizes {
		body := bytes.Repeat([]byte{byte(i)}, n)
		x.send(t, body)
		within(t, "a message", func() bool {
			x.poll()
			if y.rcq.Poll(y.out[:1]) == 0 {
				return false
			}
			c := &y.out[0]
			if !bytes.Equal(c.Data, body) {
				t.Fatalf("%d bytes arrive as %d", n, len(c.Data))
			}
			if c.Slot != verbs.NoSlot {
				y.rq.Repost([]verbs.Slot{c.Slot})
			}
			return true
		})
	}
}

// readInto posts a read and waits for it.
func (n *node) readInto(t testing.TB, with *node, data []byte, from verbs.Remote) verbs.Status {
	t.Helper()
	wr := []verbs.SendWR{{ID: 7, Op: verbs.OpRead, Flags: verbs.Signaled, Data: data, Remote: from}}
	if _, err := n.qp.PostSend(wr); err != nil {
		t.Fatal(err)
	}
	st := verbs.StatusDevice
	within(t, "a read", func() bool {
		with.poll()
		for _, c := range n.poll() {
			st = c.Status
			return c.Op == verbs.OpRead
		}
		return false
	})
	return st
}

func TestLongReads(t *testing.T) {
	x, y := newDuo(t, normal)
	mem := make([]byte, 64<<20+9)
	for i := range mem {
		mem[i] = byte(i>>16) ^ byte(i*7)
	}
	mr, err := y.dev.Register(mem, verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, len(mem))
	for _, n := range []int{maxData - 1, maxData, maxData + 1, 3 * maxData, 1<<20 + 3, 64 << 20, len(mem)} {
		clear(data)
		from := verbs.Remote{Addr: mr.Addr() + uint64(len(mem)-n), Key: mr.Key()}
		if st := x.readInto(t, y, data[:n], from); st != verbs.StatusOK {
			t.Fatalf("a read of %d bytes: %v", n, st)
		}
		if !bytes.Equal(data[:n], mem[len(mem)-n:]) {
			t.Errorf("a read of %d bytes brings something else", n)
		}
	}
}

// A peer that doesn't take anything for longer than the time limit is slow, not dead.
func TestSlowPeer(t *testing.T) {
	limit := 400 * time.Millisecond
	x, y := newDuoOf(t, Config{Timeout: limit}, normal)
	sent := 0
	wr := []verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: make([]byte, 32<<10)}}
	var full time.Time
	for {
		n, err := x.qp.PostSend(wr)
		sent += n
		if err != nil && !errors.Is(err, verbs.ErrFull) {
			t.Fatal(err)
		}
		if n == 0 {
			if full.IsZero() {
				full = time.Now()
			}
			if time.Since(full) > 5*limit {
				break
			}
		}
		if slices.ContainsFunc(x.poll(), func(c verbs.Completion) bool { return c.Op == verbs.OpClosed }) {
			t.Fatalf("the peer counts as gone, %v after the socket was full", time.Since(full))
		}
	}
	for got := 0; got < sent; x.poll() {
		y.receive(t, 1)
		got++
	}
}

// A queue pair that has no connection costs little.
func TestQuietPeersAreCheap(t *testing.T) {
	x, y := newNode(t, Config{}, normal), newNode(t, Config{}, normal)
	const peers = 1000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n := range uint32(peers) {
		x.pair(t, y, n, 1<<31|n)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(x)
	runtime.KeepAlive(y)
	bytes := int(after.HeapAlloc-before.HeapAlloc) / peers
	t.Logf("%d bytes", bytes)
	if bytes > 1024 {
		t.Errorf("a queue pair without a connection takes %d bytes", bytes)
	}
}

func TestNoAllocations(t *testing.T) {
	x, y := newDuo(t, normal)
	for _, size := range []int{8, 4000, 30_000} {
		p := make([]byte, size)
		step := func() {
			x.send(t, p)
			x.poll()
			y.receive(t, 1)
			y.send(t, p)
			y.poll()
			x.receive(t, 1)
		}
		step()
		if n := testing.AllocsPerRun(200, step); n != 0 {
			t.Errorf("%d bytes there and back: %v allocations", size, n)
		}
	}
}
