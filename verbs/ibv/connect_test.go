//go:build ibv && cgo && linux

package ibv

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// TestBothAsk has both ends ask at once.
func TestBothAsk(t *testing.T) {
	for range 20 {
		a, b := connected(t, false, verbs.RQConfig{Shared: true, Slots: 8, SlotSize: 64}, 8)
		for _, s := range []*side{a, b} {
			if n, err := s.qp.PostSend(nil); n != 0 || err != nil {
				t.Fatal(n, err)
			}
		}
		for _, s := range []*side{a, b} {
			s.post(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Inline, Data: []byte("x")})
		}
		a.want(verbs.OpRecv, verbs.StatusOK)
		b.want(verbs.OpRecv, verbs.StatusOK)
		a.dev.Close()
		b.want(verbs.OpClosed, verbs.StatusPeerClosed)
		b.dev.Close()
	}
}

// TestAskBeforeConnect asks for a connection that the other end doesn't know yet.
func TestAskBeforeConnect(t *testing.T) {
	da, db := openTest(t), openTest(t)
	rc := verbs.RQConfig{Shared: true, Slots: 4, SlotSize: 64}
	a, b := newSide(t, da, rc, 4, 64), newSide(t, db, rc, 4, 64)
	if _, err := a.qp.PostSend(nil); !errors.Is(err, verbs.ErrState) {
		t.Fatal(err)
	}
	if err := a.qp.Connect(db.Addr(), 5, 6); err != nil {
		t.Fatal(err)
	}
	if n, err := a.qp.PostSend([]verbs.SendWR{{Op: verbs.OpSend}}); n != 0 || err != verbs.ErrFull {
		t.Fatal(n, err)
	}
	for d := db.(*device); ; time.Sleep(time.Millisecond) {
		d.mu.Lock()
		n := len(d.early)
		d.mu.Unlock()
		if n == 1 {
			break
		}
	}
	if err := b.qp.Connect(da.Addr(), 6, 5); err != nil {
		t.Fatal(err)
	}
	a.post(verbs.SendWR{Op: verbs.OpSend})
	if c := b.want(verbs.OpRecv, verbs.StatusOK); c.Len != 0 {
		t.Fatalf("%+v", c)
	}
}

// TestKilled kills a peer's process in the middle of a conversation.
func TestKilled(t *testing.T) {
	const label = "VERBENA_TEST_IBV_PEER"
	rc := verbs.RQConfig{Shared: true, Slots: 8, SlotSize: 64}
	s := newSide(t, openTest(t), rc, 8, 64)
	if peer := os.Getenv(label); peer != "" { // the child: connect, and talk until killed
		addr, err := hex.DecodeString(peer)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.qp.Connect(addr, 2, 1); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("at %x\n", s.dev.Addr())
		s.post(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Inline, Data: []byte("hello from the child")})
		select {}
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%x", label, s.dev.Addr()))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	var addr []byte
	if _, err := fmt.Fscanf(out, "at %x\n", &addr); err != nil {
		t.Fatal(err)
	}
	if err := s.qp.Connect(addr, 1, 2); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", s.want(verbs.OpRecv, verbs.StatusOK).Data)
	start := time.Now()
	_ = cmd.Process.Kill()
	s.want(verbs.OpClosed, verbs.StatusPeerDead)
	t.Log("death told after ", time.Since(start).Round(time.Millisecond))
}
