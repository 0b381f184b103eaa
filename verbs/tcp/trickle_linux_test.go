package tcp

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// A peer that takes what is queued for it a little at a time, for ever, doesn't hold Close up for
// ever.
func TestCloseBesideTrickle(t *testing.T) {
	v := newVictim(t, Config{Timeout: 500 * time.Millisecond}, tuning{inlineRecv: 64, buffer: 4096, recvMost: 2048, sendBuffer: 1 << 20})
	wr := []verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: make([]byte, victimSlot)}}
	for {
		v.poll()
		if n, err := v.qp.PostSend(wr); n == 0 && err == verbs.ErrFull {
			break
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := make([]byte, 3<<10)
		for {
			if _, err := v.link.read(p); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	start := time.Now()
	_ = v.Close()
	if took := time.Since(start); took > 5*time.Second { // on a busy machine; it would be 16 s
		t.Errorf("Close takes %v", took)
	}
	_ = unix.Shutdown(v.link.fd, unix.SHUT_RD) // the kernel has more for it
	<-done
}
