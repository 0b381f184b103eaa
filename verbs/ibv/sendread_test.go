//go:build ibv && cgo && linux

package ibv

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

func TestSendRead(t *testing.T) {
	for _, one := range []bool{true, false} {
		t.Run(fmt.Sprintf("one device %v", one), func(t *testing.T) {
			a, b := connected(t, one, verbs.RQConfig{Shared: true, Slots: 16, SlotSize: 4096}, 16)
			t.Logf("attr %+v, inline granted %d, address %d bytes", a.dev.Attr(), a.qp.Inline(), len(a.dev.Addr()))

			// One send, inline, with header, payload and immediate data.
			start := time.Now()
			a.post(verbs.SendWR{
				ID: 7, Op: verbs.OpSend, Flags: verbs.Signaled | verbs.Inline | verbs.WithImm | verbs.FlagSolicited,
				Imm: 0xfeedbeef, Hdr: []byte("header 16 bytes:"), Data: []byte("payload"),
			})
			c := b.want(verbs.OpRecv, verbs.StatusOK)
			t.Logf("connected and sent in %v: %v %v slot %d imm %#x len %d %q", time.Since(start).Round(time.Microsecond), c.Op, c.Status, c.Slot, c.Imm, c.Len, c.Data)
			if string(c.Data) != "header 16 bytes:payload" || c.Len != 23 || c.Imm != 0xfeedbeef || c.Flags != verbs.WithImm || c.Slot < 0 {
				t.Fatalf("%+v", c)
			}
			b.rq.Repost([]verbs.Slot{c.Slot})
			if c := a.want(verbs.OpSend, verbs.StatusOK); c.ID != 7 {
				t.Fatalf("%+v", c)
			}

			// One send from registered memory, the header copied by the device.
			data := pattern(3000)
			mr, err := b.dev.Register(data, 0)
			if err != nil {
				t.Fatal(err)
			}
			b.post(verbs.SendWR{ID: 8, Op: verbs.OpSend, Flags: verbs.Signaled, Hdr: []byte("sixteen bytes..."), Data: data})
			c = a.want(verbs.OpRecv, verbs.StatusOK)
			if !bytes.Equal(c.Data, append([]byte("sixteen bytes..."), data...)) {
				t.Fatal("another message arrived")
			}
			a.rq.Repost([]verbs.Slot{c.Slot})
			b.want(verbs.OpSend, verbs.StatusOK)

			// One read.
			source, sink := pattern(1<<20), make([]byte, 1<<20)
			far, err := a.dev.Register(source, verbs.AccessRead)
			if err != nil {
				t.Fatal(err)
			}
			near, err := b.dev.Register(sink, verbs.AccessLocal)
			if err != nil {
				t.Fatal(err)
			}
			start = time.Now()
			b.post(verbs.SendWR{ID: 9, Op: verbs.OpRead, Flags: verbs.Signaled, Data: sink[4096:], Remote: verbs.Remote{Addr: far.Addr() + 4096, Key: far.Key()}})
			c = b.want(verbs.OpRead, verbs.StatusOK)
			t.Logf("read of %d bytes in %v: %v %v id %d", len(sink)-4096, time.Since(start).Round(time.Microsecond), c.Op, c.Status, c.ID)
			if c.ID != 9 || !bytes.Equal(sink[4096:], source[4096:]) || !bytes.Equal(sink[:4096], make([]byte, 4096)) {
				t.Fatal("read brought something else")
			}

			// A key that was taken back ends both queue pairs.
			remote := verbs.Remote{Addr: far.Addr(), Key: far.Key()}
			if err := far.Close(); err != nil {
				t.Fatal(err)
			}
			b.post(verbs.SendWR{ID: 10, Op: verbs.OpRead, Data: sink, Remote: remote})
			if c := b.want(verbs.OpRead, verbs.StatusRemoteAccess); c.ID != 10 {
				t.Fatalf("%+v", c)
			}
			b.want(verbs.OpClosed, verbs.StatusRemoteAccess)
			t.Log("at the target: ", a.want(verbs.OpClosed, verbs.StatusPeerDead).Status)
			if _, err := b.qp.PostSend([]verbs.SendWR{{Op: verbs.OpSend}}); !errors.Is(err, verbs.ErrState) {
				t.Fatal(err)
			}
			for _, m := range []verbs.MR{mr, near} {
				if err := m.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// TestSolicited sleeps through an unsolicited message, and not through a solicited
// one, the end of a read or the loss of the peer.
func TestSolicited(t *testing.T) {
	a, b := connected(t, false, verbs.RQConfig{Shared: true, Slots: 8, SlotSize: 64}, 16)
	b.post(verbs.SendWR{Op: verbs.OpSend})
	a.want(verbs.OpRecv, verbs.StatusOK)
	if b.take(); b.cq.Arm(verbs.Solicited) {
		t.Log("armed with something there")
	}
	// An adapter that was armed for any event stays so until one comes: the first
	// message may still wake, the second not.
	for i := range 2 {
		a.post(verbs.SendWR{Op: verbs.OpSend})
		woken := readable(b.dev.WakeFDs(), 200*time.Millisecond)
		t.Logf("woken by unsolicited message %d: %v", i, woken)
		if woken && i > 0 {
			t.Fail()
		}
		b.want(verbs.OpRecv, verbs.StatusOK)
		b.cq.Arm(verbs.Solicited)
	}
	a.post(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.FlagSolicited})
	if !readable(b.dev.WakeFDs(), patience) {
		t.Error("not woken by a solicited message")
	}
	b.want(verbs.OpRecv, verbs.StatusOK)

	mem := make([]byte, 2<<20)
	far, err := a.dev.Register(mem, verbs.AccessRead)
	if err != nil {
		t.Fatal(err)
	}
	sink := make([]byte, len(mem))
	if _, err := b.dev.Register(sink, verbs.AccessLocal); err != nil {
		t.Fatal(err)
	}
	if b.cq.Arm(verbs.Solicited) {
		t.Error("armed with something there")
	}
	b.post(verbs.SendWR{Op: verbs.OpRead, Flags: verbs.Signaled, Data: sink, Remote: verbs.Remote{Addr: far.Addr(), Key: far.Key()}})
	if !readable(b.dev.WakeFDs(), patience) {
		t.Error("not woken by the end of a read")
	}
	b.want(verbs.OpRead, verbs.StatusOK)
	if b.cq.Arm(verbs.Solicited) {
		t.Error("armed with something there")
	}
	if err := a.qp.Close(); err != nil {
		t.Fatal(err)
	}
	if !readable(b.dev.WakeFDs(), patience) {
		t.Error("not woken by the end of the peer")
	}
	b.want(verbs.OpClosed, verbs.StatusPeerClosed)
}
