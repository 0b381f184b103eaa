//go:build linux

package shm

import (
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// Signals, of which a Go process gets many, don't make a single copy count as
// denied: it would not be tried again.
func TestSignalsBesideCopies(t *testing.T) {
	a, b := newNode(t, Config{Read: Copy}, few), newNode(t, Config{}, few)
	qa, _ := join(a, b)
	if !qa.link.vm {
		t.Skip("the system denies process_vm_readv")
	}
	m, src := registered(b, 100_000)
	dst := make([]byte, len(src))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				// The runtime's own, which it takes for a preemption that is over.
				_ = unix.Kill(unix.Getpid(), unix.SIGURG)
				runtime.Gosched()
			}
		}
	})
	const count = 3000
	for i := range uint64(count) {
		a.read(qa, dst, m, i)
		until(t, "a read", func() bool { return len(a.reads) == int(i+1) }, a)
	}
	close(stop)
	wg.Wait()
	if c := a.d.count; c.copy != count || c.denied != 0 || !qa.link.vm {
		t.Errorf("%d of %d reads were copied at once, %d denied", c.copy, count, c.denied)
	}
	for i, s := range a.reads {
		if s != verbs.StatusOK {
			t.Errorf("read %d: %v", i, s)
		}
	}
}
