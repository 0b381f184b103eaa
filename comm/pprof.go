package comm

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"sync"

	"github.com/sirupsen/logrus"
)

// profile is this process's CPU profile, from Init to the end of its world:
// rank-N.pprof in the working directory. A process that is killed, or that calls
// os.Exit itself, leaves an incomplete file. A nil profile does nothing.
type profile struct {
	file *os.File
	log  *logrus.Logger
	once sync.Once
	err  error // of the first failed write; runtime/pprof's until it has stopped
}

// startProfile starts what VERBENA_PPROF asks for, which is cpu or nothing.
func startProfile(what string, rank int, log *logrus.Logger) (*profile, error) {
	switch what {
	case "":
		return nil, nil
	case "cpu":
	default:
		return nil, fmt.Errorf("VERBENA_PPROF=%s: want cpu", what)
	}
	f, err := os.Create(fmt.Sprintf("rank-%d.pprof", rank))
	if err != nil {
		return nil, fmt.Errorf("VERBENA_PPROF=%s: %w", what, err)
	}
	p := &profile{file: f, log: log}
	if err := pprof.StartCPUProfile(p); err != nil {
		return nil, fmt.Errorf("VERBENA_PPROF=%s: %w", what, errors.Join(err, f.Close()))
	}
	return p, nil
}

// Write is for runtime/pprof, which forgets errors.
func (p *profile) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	if p.err == nil {
		p.err = err
	}
	return n, err
}

// stop completes the file. Only the first call counts.
func (p *profile) stop() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		pprof.StopCPUProfile()
		if err := errors.Join(p.err, p.file.Close()); err != nil {
			p.log.WithError(err).Warn("comm: the CPU profile is incomplete")
		}
	})
}
