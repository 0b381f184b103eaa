package pmi

import (
	"net"
	"sync"
	"testing"
	"time"
)

// event is what a test's server has told.
type event struct {
	name       string
	rank, code int
	why        string
}

type recorder chan event

func (r recorder) Abort(rank, code int, why string) { r <- event{"abort", rank, code, why} }
func (r recorder) Stuck(waiting, missing int)       { r <- event{"stuck", waiting, missing, ""} }

// next waits for one event.
func (r recorder) next(t *testing.T) event {
	t.Helper()
	select {
	case e := <-r:
		return e
	case <-time.After(5 * time.Second):
		t.Fatal("no event came")
		return event{}
	}
}

// job is a server and a raw connection per rank.
type job struct {
	*Server
	events recorder
	conns  []net.Conn
	served []chan error
}

func newJob(t *testing.T, size int) *job {
	t.Helper()
	j := &job{events: make(recorder, 16)}
	j.Server = NewServer("test", size, j.events)
	var wg sync.WaitGroup
	for r := range size {
		ours, theirs := net.Pipe()
		done := make(chan error, 1)
		wg.Go(func() { done <- j.Serve(r, theirs) })
		j.conns, j.served = append(j.conns, ours), append(j.served, done)
	}
	t.Cleanup(func() {
		for _, c := range j.conns {
			_ = c.Close()
		}
		wg.Wait()
	})
	return j
}

// clients makes a client per rank, initialised.
func (j *job) clients(t *testing.T) []*Client {
	t.Helper()
	var cs []*Client
	for r, conn := range j.conns {
		c := NewClient(r, conn)
		if err := c.Init(t.Context()); err != nil {
			t.Fatal(err)
		}
		cs = append(cs, c)
	}
	return cs
}

// end waits until a rank's serving has ended.
func (j *job) end(t *testing.T, rank int) error {
	t.Helper()
	select {
	case err := <-j.served[rank]:
		return err
	case <-time.After(5 * time.Second):
		t.Fatalf("rank %d is still being served", rank)
		return nil
	}
}
