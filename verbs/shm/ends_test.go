//go:build linux

package shm

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/verbs"
)

// A queue pair that is closed while its connection is being made: the peer hears
// of an end, and doesn't go on writing to nobody.
func TestCloseWhileConnecting(t *testing.T) {
	for _, dials := range []string{"the one that closes", "the peer", "both"} {
		t.Run(dials, func(t *testing.T) {
			a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
			qa, qb := a.newQP(), b.newQP()
			if err := qa.Connect(b.d.Addr(), 1, 2); err != nil {
				t.Fatal(err)
			}
			if err := qb.Connect(a.d.Addr(), 2, 1); err != nil {
				t.Fatal(err)
			}
			if dials != "the peer" {
				if _, err := qa.PostSend(nil); err != nil {
					t.Fatal(err)
				}
			}
			if dials != "the one that closes" {
				if _, err := qb.PostSend(nil); err != nil {
					t.Fatal(err)
				}
			}
			// b takes the connection; a has not looked yet, unless it stood before
			// PostSend returned, on a busy machine.
			until(t, "the connection", func() bool { return qb.state == qpReady }, b)
			if err := qa.Close(); err != nil {
				t.Fatal(err)
			}
			until(t, "the end", func() bool { return len(b.ends) > 0 }, a, b)
			if d := cmp.Diff([]end{{qb.num, verbs.StatusPeerClosed}}, b.ends, cmp.AllowUnexported(end{})); d != "" {
				t.Errorf("ends (-want +got)\n%s", d)
			}
		})
	}
}

// A queue pair that is closed gives back the slots that its peer had taken, so
// that others of the shared queue can have them.
func TestCloseGivesSlotsBack(t *testing.T) {
	for _, polled := range []bool{false, true} {
		t.Run(fmt.Sprintf("polled %v", polled), func(t *testing.T) {
			a, b, c := newNode(t, Config{}, few), newNode(t, Config{}, few), newNode(t, Config{}, few)
			qb, ba := join(a, b)
			qc, ca := join(a, c)
			for i := range 5 {
				if !ba.post(t, message(i, 200), 0) {
					t.Fatal("no room")
				}
			}
			if polled {
				a.hold = true
				a.poll()
			}
			if err := qb.Close(); err != nil {
				t.Fatal(err)
			}
			a.release()
			a.allPosted()
			a.hold = true
			for i := range few.Slots {
				if !ca.post(t, message(i, 200), 0) {
					t.Fatalf("the other peer got %d slots", i)
				}
			}
			a.poll()
			if n := len(a.from(qc)); n != few.Slots {
				t.Errorf("%d messages", n)
			}
			until(t, "the end", func() bool { return len(b.ends) > 0 }, b)
		})
	}
}

// Calls after the device was closed are errors, or do nothing: its memory is gone.
func TestAfterClose(t *testing.T) {
	a, b := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qa, qb := join(a, b)
	for i := range 3 {
		if !qb.post(t, message(i, 200), 0) {
			t.Fatal("no room")
		}
	}
	a.hold = true
	a.poll()
	mem, err := a.d.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	m, err := a.d.Register(mem, verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	newRead(b, a, qa, 1<<20, 1)
	if err := a.d.Close(); err != nil {
		t.Fatal(err)
	}
	var c [16]verbs.Completion
	for range 3 {
		a.rcq.Poll(c[:])
		a.scq.Poll(c[:])
		a.rcq.Pending()
		a.scq.Pending()
		a.rcq.Arm(verbs.Any)
		a.scq.Arm(verbs.Solicited)
		a.rcq.Arm(verbs.None)
	}
	a.release()
	a.rq.Posted()
	if n, err := qa.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Data: []byte("x")}}); n != 0 || err == nil {
		t.Errorf("PostSend: %d, %v", n, err)
	}
	qa.Abort(1)
	_ = qa.Close()
	_ = m.Close()
	_ = a.d.Free(mem)
	_ = a.scq.Close()
	for _, err := range []error{
		func() error { _, err := a.d.NewCQ(1); return err }(),
		func() error { _, err := a.d.NewRQ(few); return err }(),
		func() error { _, err := a.d.NewQP(verbs.QPConfig{}); return err }(),
		func() error { _, err := a.d.Register(mem[:0], verbs.AccessRead); return err }(),
		func() error { _, err := a.d.Alloc(1); return err }(),
		a.d.Close(),
	} {
		if err == nil {
			t.Error("a call on a closed device succeeds")
		}
	}
	until(t, "the end", func() bool { return len(b.ends) > 0 }, b)
}
