package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/verbena-mpi/verbena/osu/peers/cacheline"
)

// runner runs the sides by turns.
type runner struct {
	cfg     *config
	log     io.Writer
	verbrun string
	pin     string // the file of pinScript
	sides   []*side
	notes   []string // for the report, printed as they come too
	runs    results
	failed  map[string]int // runs that failed, by side
	done    int            // rounds
}

func (r *runner) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.notes = append(r.notes, text)
	fmt.Fprintln(r.log, text)
}

// rounds runs everything. In every second round the order is turned round, so
// that a slow change of the machine weighs on all sides alike.
func (r *runner) rounds(ctx context.Context) error {
	r.runs.far, r.runs.others = r.cfg.far, r.cfg.others
	r.failed = make(map[string]int)
	if len(r.cfg.hosts) > 0 {
		r.note("what other programs use is looked at between runs only")
	}
	for r.done < r.cfg.rounds || r.done < r.cfg.maxRounds && !r.enough() {
		for _, size := range r.cfg.sizes {
			for i := range r.sides {
				if r.done%2 == 1 {
					i = len(r.sides) - 1 - i
				}
				if err := r.measure(ctx, r.sides[i], size); err != nil {
					return err
				}
			}
		}
		r.done++
		fmt.Fprintf(r.log, "round %d done: %d runs count, %d do not\n", r.done, r.runs.count(), r.runs.lost())
	}
	return nil
}

// enough says whether all sides have as many runs as there should be rounds,
// at each size, in one of the placements.
func (r *runner) enough() bool {
	for _, p := range []placement{near, far} {
		full := true
		for _, size := range r.cfg.sizes {
			for _, s := range r.sides {
				full = full && len(r.runs.values(p, s.name, size)) >= r.cfg.rounds
			}
		}
		if full {
			return true
		}
	}
	return false
}

// measure does one run with a probe on either side of it.
func (r *runner) measure(ctx context.Context, s *side, size int) error {
	r.quiet(ctx)
	before, err := probe()
	if err != nil {
		return err
	}
	m := newMeter()
	out, used, err := r.run(ctx, s, r.cfg.arguments(size))
	others := m.others(used)
	if len(r.cfg.hosts) > 0 {
		others = 0 // the ranks are no children of this process: what they use isn't known
	}
	var value float64
	if err == nil {
		value, err = parseOutput(out, size)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.failed[s.name]++
		fmt.Fprintf(r.log, "%s, %d bytes: %v\n", s.name, size, err)
		return nil
	}
	after, err := probe()
	if err != nil {
		return err
	}
	why := r.runs.add(sample{side: s.name, size: size, value: value, before: before, after: after, others: others})
	if r.cfg.verbose {
		fmt.Fprintf(r.log, "%-18s %8d bytes %12.4f   cache line %5.1f ns before, %5.1f after, others %.2f CPUs   %s\n",
			s.name, size, value, before, after, others, why)
	}
	return nil
}

// probe measures the placement; 0 means that it could not be measured because
// the CPUs were busy.
func probe() (float64, error) {
	ns, err := cacheline.OneWay(0, 1)
	if errors.Is(err, cacheline.ErrBusy) {
		return 0, nil
	}
	return ns, err
}

// run runs one side's program and returns what it printed, and the CPU time
// that it and its ranks used. A run that takes too long is ended by the signal
// that launchers pass on to their ranks.
func (r *runner) run(ctx context.Context, s *side, args []string) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.timeout)
	defer cancel()
	argv := r.command(s, args)
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	var used time.Duration
	if p := cmd.ProcessState; p != nil {
		used = p.UserTime() + p.SystemTime()
	}
	switch {
	case ctx.Err() != nil:
		return "", used, fmt.Errorf("ended after %v", r.cfg.timeout)
	case err != nil:
		return "", used, fmt.Errorf("%w: %s", err, lastLine(stderr.String()))
	}
	return stdout.String(), used, nil
}
