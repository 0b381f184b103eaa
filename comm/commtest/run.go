package commtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/internal/bootstrap"
)

// How long ranks may take to end.
const (
	afterDeath = 2 * time.Second // when one has died, before their context ends
	afterLimit = 200 * time.Millisecond
	afterEnd   = 10 * time.Second // of their context
)

// Run runs f as n ranks, each a goroutine, and returns when all have ended. The test
// fails, and ends, unless all of them return nil. Outside of a bubble of
// testing/synctest they talk over the device that processes of one host use, if the
// system has one.
//
// In a process that Processes has started, Run does nothing.
func Run(t testing.TB, n int, f comm.RunFunc, opts ...Option) {
	t.Helper()
	if isChild() {
		return
	}
	if n < 1 {
		t.Fatalf("commtest: %d ranks", n)
	}
	o := choose(t, opts)
	ctx, cancel := context.WithTimeout(t.Context(), o.limit+afterLimit)
	defer cancel()
	local := bootstrap.NewLocal(n, o.device)
	local.Hosts = o.hostOf(n)
	j := &job{
		t: t, f: f, options: o, local: local,
		ctx: ctx, cancel: cancel, ranks: make([]rank, n),
	}
	j.wait(j.start())
	if !j.report() {
		t.FailNow()
	}
}

// job is one call of Run.
type job struct {
	options
	t      testing.TB
	f      comm.RunFunc
	local  *bootstrap.Local
	ctx    context.Context
	cancel context.CancelFunc

	late bool   // the limit was reached
	dump string // what the ranks waited for then

	mu    sync.Mutex
	ranks []rank
}

// start starts the ranks. The channel is closed when all have ended.
func (j *job) start() <-chan struct{} {
	var wg sync.WaitGroup
	for r := range j.ranks {
		wg.Go(func() { j.run(r) })
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	return done
}

// wait waits until all ranks have ended, or don't in spite of all.
func (j *job) wait(done <-chan struct{}) {
	limit := time.NewTimer(j.limit)
	defer limit.Stop()
	var enough, end <-chan time.Time
	for died := j.local.Died(); ; {
		select {
		case <-done:
			return
		case <-died:
			died, enough = nil, time.After(afterDeath)
		case <-enough:
			j.cancel()
			end = time.After(afterEnd)
		case <-limit.C:
			j.late, j.dump = true, j.waiting()
			end = time.After(afterLimit + afterEnd)
		case <-end:
			return
		}
	}
}

// Everywhere runs f as n ranks in each way that the system has: as goroutines over
// each device, and of two hosts, and as processes. Each is a subtest, which is named
// after it.
func Everywhere(t *testing.T, n int, f comm.RunFunc, opts ...Option) {
	t.Helper()
	for _, device := range comm.Devices() {
		t.Run(device, func(t *testing.T) {
			t.Helper()
			Run(t, n, f, append(opts[:len(opts):len(opts)], Device(device))...)
		})
	}
	if len(comm.Devices()) > 2 { // one within hosts and one between them
		t.Run("hosts", func(t *testing.T) {
			t.Helper()
			Run(t, n, f, append(opts[:len(opts):len(opts)], Hosts(2))...)
		})
	}
	t.Run("processes", func(t *testing.T) {
		t.Helper()
		Processes(t, n, f, opts...)
	})
}
