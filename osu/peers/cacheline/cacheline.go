// Package cacheline measures how far apart two CPUs are: the time that one
// cache line takes from the one to the other. On virtual machines it changes
// while programs run, because the hypervisor moves the virtual CPUs, and with
// it changes every figure of shared-memory messaging by up to nine times. A
// comparison therefore measures it before and after each run.
package cacheline

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/verbena-mpi/verbena/internal/pin"
)

const (
	bursts  = 301
	perTurn = 200 // round trips in a burst: short, so that few bursts are disturbed
	warmUp  = 2000
)

// patience bounds one measurement: where a CPU is kept busy by others, the
// line crosses only when both threads happen to run.
const patience = 5 * time.Second

// ErrBusy says that the two CPUs were so busy that nothing could be measured.
var ErrBusy = errors.New("cacheline: the CPUs are too busy to measure")

// line is the cache line that travels. The padding keeps the neighbour lines,
// which a prefetcher may fetch along, free of anything else.
type line struct {
	_    [128]byte
	turn atomic.Uint64
	_    [120]byte
	stop atomic.Bool
	_    [127]byte
}

// OneWay returns the median time in which a cache line crosses from CPU a to
// CPU b, in nanoseconds.
func OneWay(a, b int) (float64, error) {
	if a == b {
		return 0, fmt.Errorf("cacheline: CPU %d twice; two different ones are needed", a)
	}
	l := new(line)
	echoed := make(chan error, 1)
	go func() { echoed <- l.echo(b) }()

	// The measuring side has a goroutine of its own too: both threads end with
	// their goroutines, so that no pinned thread returns to the scheduler.
	type result struct {
		ns  float64
		err error
	}
	measured := make(chan result, 1)
	go func() {
		ns, err := l.measure(a)
		measured <- result{ns, err}
	}()

	// A side that could not be pinned never answers, so either error ends both.
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	var r result
	var echoErr error
	select {
	case r = <-measured:
		l.stop.Store(true)
		echoErr = <-echoed
	case echoErr = <-echoed:
		l.stop.Store(true)
		r = <-measured
	case <-deadline.C:
		l.stop.Store(true)
		<-echoed
		<-measured
		return 0, ErrBusy
	}
	if echoErr != nil {
		return 0, echoErr
	}
	return r.ns, r.err
}

// echo answers each odd turn with the even one that follows it.
func (l *line) echo(cpu int) error {
	if err := pin.Thread(cpu); err != nil {
		return err
	}
	for next := uint64(1); ; next += 2 {
		if !l.await(next) {
			return nil
		}
		l.turn.Store(next + 1)
	}
}

// await spins until the line holds turn; false means that it was told to stop.
func (l *line) await(turn uint64) bool {
	for l.turn.Load() != turn {
		if l.stop.Load() {
			return false
		}
	}
	return true
}

func (l *line) measure(cpu int) (float64, error) {
	if err := pin.Thread(cpu); err != nil {
		return 0, err
	}
	turn := uint64(0)
	trips := func(n int) bool {
		for range n {
			l.turn.Store(turn + 1)
			turn += 2
			if !l.await(turn) {
				return false
			}
		}
		return true
	}
	if !trips(warmUp) {
		return 0, ErrBusy
	}
	took := make([]float64, bursts)
	for i := range took {
		began := time.Now()
		if !trips(perTurn) {
			return 0, ErrBusy
		}
		took[i] = float64(time.Since(began)) / (2 * perTurn)
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
