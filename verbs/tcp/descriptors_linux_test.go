package tcp

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// Queue pairs and devices are closed at any moment, while a timer is about to write what they have
// queued, looks are made, and peers write: the numbers of their descriptors are other files'
// at once, and to those nothing happens.
func TestClosedDescriptors(t *testing.T) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			var b [16]byte
			for {
				select {
				case <-stop:
					return
				default:
				}
				var all [][2]int
				for range 20 {
					fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
					if err != nil {
						t.Error(err)
						return
					}
					all = append(all, fds)
				}
				time.Sleep(300 * time.Microsecond)
				for _, fds := range all {
					for _, fd := range fds {
						if n, err := unix.Read(fd, b[:]); !errors.Is(err, unix.EAGAIN) {
							t.Errorf("somebody has touched descriptor %d: %d bytes, %v", fd, n, err)
						}
					}
					_, _ = unix.Close(fds[0]), unix.Close(fds[1])
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	tune := normal
	tune.stallEvery = 2 * time.Millisecond
	for range 60 {
		x, y := newDuoOf(t, Config{TLS: rng.IntN(4) == 0}, tune)
		var looks sync.WaitGroup
		done := make(chan struct{})
		looks.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					x.rcq.Pending()
				}
			}
		})
		p := make([]byte, 200)
		for range rng.IntN(20) {
			_, _ = x.qp.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: p}, {Op: verbs.OpSend, Flags: verbs.Inline, Data: p}})
			_, _ = y.qp.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Inline, Data: p}})
		}
		time.Sleep(time.Duration(rng.IntN(400)) * time.Microsecond)
		switch rng.IntN(4) {
		case 0:
			_ = x.qp.Close()
		case 1:
			x.dev.Die()
		case 2:
			y.dev.Die()
		}
		close(done)
		looks.Wait()
		_, _ = x.dev.Close(), y.dev.Close()
	}
	close(stop)
	wg.Wait()
}
