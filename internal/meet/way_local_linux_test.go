package meet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/control"
)

// localRig makes ways within this host, for a job that no other test has.
func localRig(t *testing.T) Way {
	t.Helper()
	w, err := Local("the meeting", fmt.Sprint(t.Name(), os.Getpid(), time.Now().UnixNano()))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestLocal(t *testing.T) {
	way := localRig(t)
	ms := make([]*member, 4)
	var g errgroup.Group
	for rank := range ms {
		g.Go(func() (err error) {
			ms[rank], err = join(t.Context(), Config{Rank: rank, Size: len(ms), Job: "j", Timeout: patient, Way: way})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	_, err := Join(t.Context(), Config{Rank: 0, Size: 4, Job: "j", Timeout: patient, Way: way})
	says(t, "a second rank 0", err, "is taken by process", fmt.Sprintf("of user %d: is it rank 0, too?", os.Geteuid()))
	_, err = Join(t.Context(), Config{Rank: 1, Size: 4, Job: "other", Timeout: patient, Way: way})
	says(t, "another job", err, `it belongs to job "other"`)
	ms[3].die()
	ms[1].hear(t, control.Message{Kind: control.Exit, Rank: 3, How: control.Died})
	says(t, "a barrier", ms[1].Barrier(t.Context()), fmt.Sprintf("rank 3 (process %d) has ended", os.Getpid()))
	leaveAll(t, ms[:3])
}

// as runs f with another user's rights, on a thread of its own.
func as(t *testing.T, uid int, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and it ends with the goroutine
		if _, _, errno := syscall.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
			t.Error(errno)
			return
		}
		f()
	}()
	<-done
}

// Another user has taken the name of the socket: nobody talks to him.
func TestLocalTaken(t *testing.T) {
	t.Parallel()
	way := localRig(t)
	as(t, 65534, func() {
		l, err := net.Listen("unix", way.(*local).name)
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
			}
		}()
		t.Cleanup(func() { _ = l.Close() })
	})
	_, err := Join(t.Context(), Config{Rank: 0, Size: 2, Timeout: patient, Way: way})
	says(t, "rank 0", err, "is taken by process", "of user 65534")
	_, err = Join(t.Context(), Config{Rank: 1, Size: 2, Timeout: time.Second, Way: way})
	says(t, "rank 1", err, "it does not belong to this job: it is process", "of user 65534, this is user 0")
}

// announced is a way that tells when somebody listens.
type announced struct {
	Way
	listens chan struct{}
}

func (w *announced) Listen() (net.Listener, error) {
	l, err := w.Way.Listen()
	if err == nil {
		close(w.listens)
	}
	return l, err
}

// Another user comes to the meeting.
func TestLocalStranger(t *testing.T) {
	t.Parallel()
	way := &announced{localRig(t), make(chan struct{})}
	done := make(chan error, 1)
	go func() {
		_, err := Join(t.Context(), Config{Rank: 0, Size: 2, Timeout: 2 * time.Second, Way: way})
		done <- err
	}()
	select {
	case <-way.listens:
	case err := <-done:
		t.Fatal(err)
	}
	var err error
	as(t, 65534, func() {
		var c net.Conn
		if c, err = way.Dial(context.Background()); err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		if err = say(c, patient, hello{rank: 1, size: 2, within: time.Minute}.message()); err == nil {
			_ = c.SetReadDeadline(time.Now().Add(patient))
			_, err = c.Read(make([]byte, 1))
		}
	})
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the stranger was answered: %v", err)
	}
	zero := <-done
	says(t, "rank 0", zero, "rank 1 has not come", "of user 65534, this is user 0")
	if strings.Contains(fmt.Sprint(zero), "was there") {
		t.Errorf("the stranger had a seat: %v", zero)
	}
}
