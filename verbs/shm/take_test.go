//go:build linux

package shm

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

// The owner revokes while the peer takes: one of them wins, and the other knows.
func TestTakeAgainstRevoke(t *testing.T) {
	owner, reader := newNode(t, Config{}, few), newNode(t, Config{}, few)
	qr, _ := join(reader, owner)
	mem := make([]byte, 100)
	wins := map[bool]int{}
	for i := range 3000 {
		m, err := owner.d.Register(mem, verbs.AccessRead)
		if err != nil {
			t.Fatal(err)
		}
		r := verbs.Remote{Addr: m.Addr(), Key: m.Key()}
		var taken, revoked bool
		take := func() { taken = qr.Take(r) }
		revoke := func() { revoked = m.(verbs.Revoker).Revoke() }
		switch i % 4 {
		case 0:
			take()
			revoke()
		case 1:
			revoke()
			take()
		default:
			atOnce(take, revoke)
		}
		if taken == revoked {
			t.Fatalf("taken %v, revoked %v", taken, revoked)
		}
		wins[taken]++
		if taken {
			if !qr.Take(r) || m.(verbs.Revoker).Revoke() {
				t.Fatal("what is taken can be revoked")
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if qr.Take(r) || m.(verbs.Revoker).Revoke() {
			t.Fatal("what is closed can be taken, or revoked")
		}
	}
	if wins[true] < 700 || wins[false] < 700 {
		t.Errorf("taken %d times, revoked %d", wins[true], wins[false])
	}
}

// atOnce runs two functions side by side, as nearly at the same moment as it can.
func atOnce(f, g func()) {
	var wg sync.WaitGroup
	var there atomic.Int32
	for _, f := range []func(){f, g} {
		wg.Go(func() {
			for there.Add(1); there.Load() < 2; {
				runtime.Gosched()
			}
			f()
		})
	}
	wg.Wait()
}

// What was revoked can't be read, however the peer reads; what was taken can.
func TestReadOfRevoked(t *testing.T) {
	for _, w := range []Way{Stream, Copy, Direct} {
		t.Run(w.String(), func(t *testing.T) {
			owner, reader := newNode(t, Config{Read: w}, few), newNode(t, Config{Read: w}, few)
			qr, _ := join(reader, owner)
			mem, err := owner.d.Alloc(1000)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []verbs.Status{verbs.StatusOK, verbs.StatusRemoteAccess} {
				m, err := owner.d.Register(mem, verbs.AccessRead)
				if err != nil {
					t.Fatal(err)
				}
				key := m.Key()
				if want == verbs.StatusOK {
					qr.Take(verbs.Remote{Addr: m.Addr(), Key: key})
				}
				if revoked := m.(verbs.Revoker).Revoke(); revoked == (want == verbs.StatusOK) {
					t.Fatalf("revoked %v", revoked)
				}
				if n, err := qr.PostSend([]verbs.SendWR{{
					ID: uint64(i), Op: verbs.OpRead, Flags: verbs.Signaled, Data: make([]byte, 1000),
					Remote: verbs.Remote{Addr: m.Addr(), Key: key},
				}}); n != 1 {
					t.Fatal(err)
				}
				until(t, "the read", func() bool { _, ok := reader.reads[uint64(i)]; return ok }, reader, owner)
				if got := reader.reads[uint64(i)]; got != want {
					t.Errorf("%v, want %v", got, want)
				}
			}
		})
	}
}
