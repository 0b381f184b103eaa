//go:build linux

package shm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// Two sides that sleep whenever they can, each in its own goroutine: no wake-up is
// lost, be it for a message, a cell, a slot, a chunk or the end of a read.
func TestNoWakeUpIsLost(t *testing.T) {
	count := 4000
	if testing.Short() {
		count = 500
	}
	for _, rc := range []verbs.RQConfig{few, {Shared: true, Slots: 1, SlotSize: 256}, {Slots: 2, SlotSize: 256}} {
		for _, w := range []Way{Stream, Copy} {
			t.Run(fmt.Sprintf("%d slots/%v", rc.Slots, w), func(t *testing.T) {
				a, b := newNode(t, Config{Read: w}, rc), newNode(t, Config{Read: w}, rc)
				qa, qb := join(a, b)
				ma, srcA := registered(a, 200_000)
				mb, srcB := registered(b, 200_000)
				var wg sync.WaitGroup
				errs := make([]error, 2)
				wg.Go(func() { errs[0] = a.sleepy(qa, mb, len(srcB), count, 1) })
				wg.Go(func() { errs[1] = b.sleepy(qb, ma, len(srcA), count, 2) })
				wg.Wait()
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				if a.d.bell.armed.Load() != uint32(verbs.None) || b.d.bell.armed.Load() != uint32(verbs.None) {
					t.Error("somebody is still armed")
				}
				until(t, "the slots", func() bool { return a.rqOf(qa).Posted() == rc.Slots && b.rqOf(qb).Posted() == rc.Slots }, a, b)
				a.allPosted()
				b.allPosted()
			})
		}
	}
}

func registered(n *node, size int) (verbs.MR, []byte) {
	n.t.Helper()
	mem := make([]byte, size)
	m, err := n.d.Register(mem, verbs.AccessRead)
	if err != nil {
		n.t.Fatal(err)
	}
	return m, mem
}

// sleepy sends and receives count messages, and reads now and then; where nothing
// is left to do it arms and sleeps until its bell rings. The last message is sent
// when all else is done, so that the peer's wait for it keeps it serving.
func (n *node) sleepy(q *qp, from verbs.MR, size, count int, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 5))
	dst := make([]byte, size)
	sent, slept, reading, reads := 0, 0, false, uint64(0)
	for {
		burst := rng.IntN(100)
		for i := 0; i < burst && sent < count-1; i++ {
			if !q.tryPost(message(sent, []int{8, 200}[rng.IntN(2)])) {
				break
			}
			sent++
		}
		if reading && len(n.reads) == int(reads) {
			if s := n.reads[reads]; s != verbs.StatusOK {
				return fmt.Errorf("read %d: %v", reads, s)
			}
			reading = false
		}
		if !reading && sent < count-1 && rng.IntN(20) == 0 {
			wr := []verbs.SendWR{{ID: reads + 1, Op: verbs.OpRead, Flags: verbs.Signaled, Data: dst, Remote: verbs.Remote{Addr: from.Addr(), Key: from.Key()}}}
			if got, _ := q.PostSend(wr); got == 1 {
				reads++
				reading = true
			}
		}
		if sent == count-1 && !reading && q.tryPost(message(sent, 8)) {
			sent++
		}
		before, ended := len(n.got), len(n.reads)
		n.poll()
		if len(n.reads) > ended {
			continue
		}
		if sent == count && len(n.got) == count {
			if slept == 0 {
				return errors.New("it never slept")
			}
			return nil
		}
		if len(n.got) > before && rng.IntN(4) > 0 {
			continue
		}
		// What was not taken is tried again before each sleep.
		if sent < count-1 && q.tryPost(message(sent, 200)) {
			sent++
			continue
		}
		if ok, err := n.sleep(); err != nil {
			return fmt.Errorf("%w: sent %d, received %d of %d, reading %v, %s", err, sent, len(n.got), count, reading, q.describe())
		} else if ok {
			slept++
		}
	}
}

// sleep arms and sleeps until the bell rings. It says no if something came before.
func (n *node) sleep() (slept bool, err error) {
	again := n.scq.Arm(verbs.Any)
	if again = n.rcq.Arm(verbs.Any) || again; again {
		runtime.Gosched()
	} else {
		p := []unix.PollFd{{Fd: int32(n.d.bell.fd), Events: unix.POLLIN}}
		if got, err := unix.Poll(p, int(limit.Milliseconds())); got == 0 && err == nil {
			return true, errors.New("it sleeps on")
		}
	}
	n.scq.Arm(verbs.None)
	n.rcq.Arm(verbs.None)
	return !again, nil
}

// The same one way: nothing but room wakes a sender, and nothing but messages a
// receiver, which keeps slots for a while.
func TestNoWakeUpIsLostOneWay(t *testing.T) {
	const count = 3000
	for _, size := range []int{8, 200} {
		for _, slots := range []int{1, 2, 8} {
			t.Run(fmt.Sprintf("%d bytes/%d slots", size, slots), func(t *testing.T) {
				a, b := newNode(t, Config{}, few), newNode(t, Config{}, verbs.RQConfig{Shared: true, Slots: slots, SlotSize: 256})
				qa, _ := join(a, b)
				b.hold = true
				var wg sync.WaitGroup
				errs := make([]error, 2)
				wg.Go(func() {
					for sent := 0; sent < count && errs[0] == nil; {
						if qa.tryPost(message(sent, size)) {
							sent++
							continue
						}
						if _, err := a.sleep(); err != nil {
							errs[0] = fmt.Errorf("the sender: %w: sent %d, %s", err, sent, qa.describe())
						}
						a.poll()
					}
				})
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(slots), 6))
					for len(b.got) < count && errs[1] == nil {
						for range rng.IntN(200) {
							runtime.Gosched() // the sender may fall asleep
						}
						before := len(b.got)
						b.poll()
						if len(b.held) == slots || rng.IntN(3) == 0 {
							b.release()
						}
						if len(b.got) > before || len(b.held) > 0 {
							continue
						}
						if _, err := b.sleep(); err != nil {
							errs[1] = fmt.Errorf("the receiver: %w: received %d", err, len(b.got))
						}
					}
				})
				wg.Wait()
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// And for reads: the owner sleeps when it has no free chunk or no free cell, and
// the reader when nothing has come.
func TestNoWakeUpIsLostReading(t *testing.T) {
	const size, count = 6 << 20, 20
	owner, reader := newNode(t, Config{Read: Stream}, few), newNode(t, Config{Read: Stream, NoSingleCopy: true}, few)
	qr, _ := join(reader, owner)
	m, _ := registered(owner, size)
	dst := make([]byte, size)
	var wg sync.WaitGroup
	errs := make([]error, 2)
	var mu sync.Mutex
	over := false
	wg.Go(func() {
		rng := rand.New(rand.NewPCG(1, 7))
		for i := range uint64(count) {
			reader.read(qr, dst, m, i)
			for len(reader.reads) == int(i) && errs[0] == nil {
				for range rng.IntN(300) {
					runtime.Gosched() // the owner may fall asleep
				}
				before := qr.rx.pos
				reader.poll()
				if qr.rx.pos != before {
					continue
				}
				if _, err := reader.sleep(); err != nil {
					errs[0] = fmt.Errorf("the reader: %w: read %d, %s", err, i, qr.describe())
				}
			}
		}
		mu.Lock()
		over = true
		mu.Unlock()
		qr.tryPost([]byte("over"))
	})
	wg.Go(func() {
		for errs[1] == nil {
			mu.Lock()
			end := over
			mu.Unlock()
			if end {
				return
			}
			owner.poll()
			if _, err := owner.sleep(); err != nil {
				errs[1] = fmt.Errorf("the owner: %w: %d serves, %d units lent", err, len(owner.d.serves), owner.d.chunk.lent)
			}
		}
	})
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func (q *qp) tryPost(data []byte) bool {
	n, _ := q.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: data}})
	return n == 1
}

func (q *qp) describe() string {
	return fmt.Sprintf("lack %b, position %d, head %d, received %d, told %d, ready %v, a slot is free %v, %d serves",
		q.lack, q.pos, q.tx.head.Load(), q.rx.pos, q.rx.acked, q.rx.ready(), q.slots.free(), len(q.dev.serves))
}

// One goroutine looks whether something is pending, without the lock, while others
// make queue pairs, send, drain and close: what they change is not what it looks
// at. For the race detector.
func TestPendingBesideOthers(t *testing.T) {
	a, b := newNode(t, Config{MaxPeers: 64}, few), newNode(t, Config{MaxPeers: 64}, few)
	join(a, b)
	var mu sync.Mutex
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if a.rcq.Pending() {
				mu.Lock()
				var c [8]verbs.Completion
				for _, c := range c[:a.rcq.Poll(c[:])] {
					if c.Slot != verbs.NoSlot {
						a.rq.Repost([]verbs.Slot{c.Slot})
					}
				}
				mu.Unlock()
			}
			runtime.Gosched()
		}
	}()
	for i := range 40 {
		mu.Lock()
		qa, qb := a.newQP(), b.newQP()
		la, lb := lastLabel.Add(1), lastLabel.Add(1)
		if err := qa.Connect(b.d.Addr(), la, lb); err != nil {
			t.Error(err)
		}
		if err := qb.Connect(a.d.Addr(), lb, la); err != nil {
			t.Error(err)
		}
		mu.Unlock()
		sent := 0
		until(t, "some messages", func() bool {
			mu.Lock()
			defer mu.Unlock()
			if qb.tryPost(message(i, 200)) {
				sent++
			}
			qa.tryPost(message(i, 8))
			var c [8]verbs.Completion
			a.scq.Poll(c[:]) // as Drain does
			return sent > 20
		}, b)
		mu.Lock()
		if i%2 == 0 {
			if err := qa.Close(); err != nil {
				t.Error(err)
			}
		}
		m, err := a.d.Register(make([]byte, 100), verbs.AccessRead)
		if err == nil {
			err = m.Close()
		}
		if err != nil {
			t.Error(err)
		}
		mu.Unlock()
	}
	close(stop)
	<-done
}

// A peer that sleeps for more than a plain message is woken when its ring, or its slots,
// have no room: else its computation would hold up a sender of short messages.
func TestFullRingWakes(t *testing.T) {
	for _, size := range []int{8, 200} { // in cells, in slots
		a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
		qa, qb := join(a, b)
		talk(a, b, qa, qb)
		a.poll()
		b.poll()
		b.arm(verbs.None, verbs.Solicited)
		for n := 0; qa.tryPost(message(n, size)); n++ {
			if b.rung() {
				t.Fatalf("%d B: woken by message %d", size, n)
			}
		}
		if !b.rung() {
			t.Errorf("%d B: not woken, and there is no room", size)
		}
		b.arm(verbs.None, verbs.None)
	}
}
