//go:build linux

package shm

import (
	"errors"
	"fmt"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

// startAt sets both sides of a fresh ring as if pos messages had gone through it.
func startAt(tx, rx *qp, pos uint64) {
	tx.pos, tx.limit = pos, pos
	rx.rx.pos, rx.rx.acked = pos, pos
	rx.rx.ring.head.Store(pos)
	for i := range uint64(ringCells) { // what the round before left
		old := pos - ringCells + i
		rx.rx.ring.cells[old%ringCells].word.Store(packWord(old, 8, kindSend))
	}
}

// The sequence in a cell's word has 32 bits. Where it wraps around, nothing is
// lost, repeated or seen too early.
func TestSequenceWraps(t *testing.T) {
	for _, wraps := range []uint64{1, 7} {
		for _, before := range []uint64{0, 1, 2, 15, 16, 63, 64, 65, 100} {
			t.Run(fmt.Sprintf("%d·2³²−%d", wraps, before), func(t *testing.T) {
				a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
				qa, qb := join(a, b)
				startAt(qa, qb, wraps<<32-before)
				startAt(qb, qa, wraps<<32-before)
				if qb.rx.ready() || qa.rx.ready() {
					t.Fatal("an empty ring has something")
				}
				b.poll()
				if len(b.got) != 0 {
					t.Fatalf("got %v of an empty ring", b.got)
				}
				const count = 300
				sizes := []int{8, 150, 112, 256, 4}
				sentA, sentB := 0, 0
				until(t, "all messages", func() bool {
					for sentA < count && qa.post(t, message(sentA, sizes[sentA%5]), 0) {
						sentA++
					}
					for sentB < count && qb.post(t, message(sentB, 8), 0) {
						sentB++
					}
					return len(b.got) >= count && len(a.got) >= count
				}, a, b)
				for i, m := range b.got {
					if m.data != string(message(i, sizes[i%5])) {
						t.Fatalf("message %d is wrong", i)
					}
				}
				a.checkMessages(qa.num, count, 8)
				for range 10 {
					a.poll()
					b.poll()
				}
				if len(b.got) != count {
					t.Errorf("%d messages too many", len(b.got)-count)
				}
				if qa.pos != wraps<<32-before+count {
					t.Errorf("the sender is at %d", qa.pos)
				}
				a.allPosted()
				b.allPosted()
			})
		}
	}
}

// A ring takes as many messages as it has cells, and says so; the cells come back
// in batches, or when the receiver goes to sleep; who wants room is woken.
func TestRingFull(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, qb := join(a, b)
	fill := func() (n int) {
		for qa.post(t, message(n, 8), 0) {
			n++
		}
		return n
	}
	if n := fill(); n != ringCells {
		t.Errorf("an empty ring took %d messages, it has %d cells", n, ringCells)
	}
	if n := fill(); n != 0 {
		t.Errorf("a full ring took %d messages", n)
	}
	take := func(n int) {
		c := make([]verbs.Completion, 1)
		for range n {
			if b.rcq.Poll(c) != 1 || c[0].Op != verbs.OpRecv {
				t.Fatalf("got %+v", c[0])
			}
		}
	}
	take(ackEvery - 1)
	if n := fill(); n != 0 {
		t.Errorf("%d cells came back before a batch was full", n)
	}
	take(1)
	if n := fill(); n != 0 {
		t.Errorf("%d cells came back while their views are lent", n)
	}
	take(1) // the next poll ends the views of the one before
	if n := fill(); n != ackEvery {
		t.Errorf("%d cells came back, want %d", n, ackEvery)
	}
	// The receiver empties the ring but for what makes no batch, and sleeps: the
	// sender gets all cells.
	take(ringCells - 1)
	b.arm(verbs.None, verbs.Any)
	if n := fill(); n != ringCells {
		t.Errorf("%d cells after the receiver armed, want %d", n, ringCells)
	}
	if !b.rung() {
		t.Error("the receiver sleeps on")
	}
	_ = qb
}

// A sender that found no cell arms, and is woken when there is one; and it isn't
// put to sleep when there is one already.
func TestRingFullWakes(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, _ := join(a, b)
	for qa.post(t, message(0, 8), 0) {
	}
	a.arm(verbs.Any, verbs.None)
	if a.rung() {
		t.Fatal("woken without room")
	}
	for range 4 { // takes all, and gives back
		b.poll()
	}
	if !a.rung() {
		t.Fatal("not woken by room")
	}
	for qa.post(t, message(0, 8), 0) {
	}
	for range 4 {
		b.poll()
	}
	if !a.scq.Arm(verbs.Any) {
		t.Error("armed though there is room: it was made before")
	}
	a.scq.Arm(verbs.None)
}

// Room that was there when the sender looked wakes nobody later: it may sleep for
// something else by then.
func TestRoomWakesOnce(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, qb := join(a, b)
	qa.lack |= lackCell
	if !a.scq.Arm(verbs.Any) {
		t.Fatal("no room in an empty ring")
	}
	a.arm(verbs.None, verbs.Solicited)
	for i := range 3 * ackEvery {
		until(t, "room", func() bool { return qa.post(t, message(i, 8), 0) }, b)
	}
	until(t, "the messages", func() bool { return len(b.from(qb)) == 3*ackEvery }, b)
	b.arm(verbs.None, verbs.Any)
	if a.rung() {
		t.Error("woken by room that nobody waits for")
	}
}

// The same for slots: a send without a slot is counted, takes nothing, and is
// woken by a repost.
func TestSlotsFull(t *testing.T) {
	for _, shared := range []bool{true, false} {
		t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
			rc := few
			rc.Shared = shared
			a, b := newNode(t, Config{}, few), newNode(t, Config{}, rc)
			qa, qb := join(a, b)
			for i := range rc.Slots {
				if !qa.post(t, message(i, 200), 0) {
					t.Fatalf("message %d of %d: not taken", i, rc.Slots)
				}
			}
			pos := qa.pos
			if qa.post(t, message(0, 200), 0) || a.d.count.rnr != 1 || qa.pos != pos {
				t.Errorf("a message without a slot: rnr %d, position %d, was %d", a.d.count.rnr, qa.pos, pos)
			}
			b.hold = true
			b.poll()
			a.arm(verbs.Any, verbs.None)
			if a.rung() {
				t.Fatal("woken without a slot")
			}
			b.rqOf(qb).Repost([]verbs.Slot{b.held[3].slot})
			if !a.rung() {
				t.Fatal("not woken by a slot")
			}
			a.poll()
			if !qa.post(t, message(rc.Slots, 200), 0) {
				t.Error("no room for one")
			}
			if qa.post(t, message(0, 200), 0) {
				t.Error("room for two, in one slot")
			}
			b.held = append(b.held[:3], b.held[4:]...)
			b.poll()
			b.checkMessages(qb.num, rc.Slots+1, 200)
			b.release()
			b.allPosted()
		})
	}
}

func (n *node) rqOf(q *qp) verbs.RQ { return q.rq }

// Looking for room takes none, not even for a moment: another sender that looks
// at that moment would sleep beside a free slot.
func TestAnnounceClaimsNothing(t *testing.T) {
	rc := few
	rc.Slots = 1
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, rc)
	qa, _ := join(a, b)
	seen := make(chan uint32, 1)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if w := qa.slots.owners[0].Load(); w != slotFree {
				select {
				case seen <- w:
				default:
				}
			}
		}
	}()
	for range 20_000 {
		qa.lack = lackSlot
		if !qa.announce() {
			t.Fatal("no room in an empty ring with a free slot")
		}
	}
	close(stop)
	<-done
	select {
	case w := <-seen:
		t.Errorf("the slot had the owner %d for a moment", w)
	default:
	}
}

// Slots that are all taken, by a peer that has stopped perhaps, don't put a sender
// to sleep that wants cells only; and one that wants slots is woken by slots,
// whatever else was refused meanwhile.
func TestWants(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, _ := join(a, b)
	b.hold = true
	for i := 0; qa.post(t, message(i, 200), 0); i++ {
	}
	b.poll()
	for qa.post(t, message(0, 8), 0) {
	}
	a.arm(verbs.Any, verbs.None)
	for range 4 {
		b.poll()
	}
	if !a.rung() {
		t.Error("not woken by cells, while there are no slots")
	}
	a.poll()
	if !qa.post(t, message(0, 8), 0) {
		t.Error("no cell")
	}
	// As an engine does: what was refused is tried again before each arming.
	a.scq.Arm(verbs.None)
	for again := true; again; again = a.scq.Arm(verbs.Any) {
		if qa.post(t, message(0, 200), 0) {
			t.Fatal("a slot")
		}
		qa.lack |= lackEnd // a read, too, found no room
	}
	if a.rung() {
		t.Error("woken without cause")
	}
	b.release()
	if !a.rung() {
		t.Error("not woken by slots")
	}
}

// Sizes at every edge: in a cell, in a slot, too long for either.
func TestSizes(t *testing.T) {
	rc := verbs.RQConfig{Shared: true, Slots: 4, SlotSize: 300}
	a, b := newNode(t, Config{}, rc), newNode(t, Config{}, rc)
	qa, qb := join(a, b)
	before := a.d.count.slots
	for i, n := range []int{4, 8, 15, 16, 17, 40, 56, 57, cellMax - 1, cellMax} {
		until(t, "room", func() bool { return qa.post(t, message(i, n), 0) }, a, b)
		until(t, "a message", func() bool { return len(b.got) == i+1 }, b)
		if b.got[i].data != string(message(i, n)) {
			t.Errorf("%d bytes: wrong content", n)
		}
	}
	if a.d.count.slots != before {
		t.Errorf("%d messages that fit a cell took slots", a.d.count.slots-before)
	}
	b.got = nil
	for i, n := range []int{cellMax + 1, 128, 299, 300} {
		until(t, "room", func() bool { return qa.post(t, message(i, n), 0) }, a, b)
		until(t, "a message", func() bool { return len(b.got) == i+1 }, b)
		if b.got[i].data != string(message(i, n)) {
			t.Errorf("%d bytes: wrong content", n)
		}
	}
	if _, err := qa.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Data: make([]byte, 301)}}); !errors.Is(err, verbs.ErrTooLong) {
		t.Errorf("301 bytes into slots of 300: %v", err)
	}
	if _, err := qa.PostSend([]verbs.SendWR{{Op: verbs.OpRecv}}); !errors.Is(err, verbs.ErrInvalid) {
		t.Errorf("a request to receive: %v", err)
	}
	if qa.state != qpReady || qb.state != qpReady {
		t.Error("a request that can't be taken ended the queue pair")
	}
	b.allPosted()
}

// A header of 16 bytes with a payload, which is the protocols' message, and other
// shapes: header and data are one message.
func TestGather(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, _ := join(a, b)
	all := message(7, 250)
	i := 0
	for _, hdr := range []int{0, 1, 8, 15, 16, 17, 40, 112} {
		for _, data := range []int{0, 1, 24, 40, 95, 96, 97, 138} {
			b.got = nil
			wr := []verbs.SendWR{{Op: verbs.OpSend, Hdr: all[:hdr], Data: all[hdr : hdr+data]}}
			if _, err := qa.PostSend(wr); err != nil {
				t.Fatal(err)
			}
			until(t, "a message", func() bool { return len(b.got) == 1 }, b)
			if b.got[0].data != string(all[:hdr+data]) {
				t.Errorf("%d+%d bytes: wrong content", hdr, data)
			}
			i++
		}
	}
}
