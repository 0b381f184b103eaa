package bootstrap

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/verbena-mpi/verbena/internal/knobs"
	"github.com/verbena-mpi/verbena/internal/meet"
	"github.com/verbena-mpi/verbena/internal/secret"
)

// meeting is where the ranks of a job meet that has no launcher of ours, nor PMI: at
// an address, if there is one, or within a host.
type meeting struct {
	address string // VERBENA_MEET
	file    string // VERBENA_SECRET_FILE
	host    string // what started the ranks of a job within a host
	job     string // which of its jobs this is
	timeout time.Duration
	silence time.Duration // VERBENA_PEER_TIMEOUT
}

// claim is a pair of variables by which somebody says which rank this is, and of how
// many. The first claim that is there counts.
type claim struct{ rank, size string }

var claims = []claim{
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
	{"JOB_COMPLETION_INDEX", "VERBENA_SIZE"}, // Kubernetes
}

// fromMeeting reads the variables that are ours. Found: they are there.
func fromMeeting(lookup func(string) (string, bool)) (p *place, found bool, err error) {
	address, ok := lookup("VERBENA_MEET")
	if !ok {
		return nil, false, withoutAddress(lookup)
	}
	rank, size, err := ourRank(lookup)
	if err != nil || size == 1 {
		return nil, true, err
	}
	m := &meeting{address: address}
	if m.file, ok = lookup("VERBENA_SECRET_FILE"); !ok || m.file == "" {
		return nil, true, fmt.Errorf("bootstrap: VERBENA_MEET=%s is set and VERBENA_SECRET_FILE is not: it names a file with the same 16 bytes or more for all ranks, that only the user can read", address)
	}
	if m.timeout, err = meetTimeout(lookup); err != nil {
		return nil, true, err
	}
	if text, ok := lookup("VERBENA_PEER_TIMEOUT"); ok {
		m.silence, _ = time.ParseDuration(text) // a wrong one is comm's to refuse
	}
	if m.silence <= 0 {
		m.silence = knobs.Duration("VERBENA_PEER_TIMEOUT")
	}
	return &place{rank: rank, size: size, fd: -1, meet: m}, true, nil
}

// withoutAddress refuses to be alone where there is half a place.
func withoutAddress(lookup func(string) (string, bool)) error {
	if size, _ := lookup("VERBENA_SIZE"); size == "1" {
		return nil
	}
	for _, name := range []string{"VERBENA_RANK", "VERBENA_SIZE"} {
		if v, ok := lookup(name); ok {
			return fmt.Errorf("bootstrap: %s=%s is set and VERBENA_MEET is not: it is host:port of rank 0; or set VERBENA_ALONE=1 to run this process alone", name, v)
		}
	}
	return nil
}

// ourRank is what the variables say that are ours, or what a launcher's say.
func ourRank(lookup func(string) (string, bool)) (rank, size int, err error) {
	c := claim{"VERBENA_RANK", "VERBENA_SIZE"}
	has := func(name string) bool { _, ok := lookup(name); return ok }
	if !has(c.rank) {
		for _, other := range claims {
			if has(other.rank) && has(other.size) {
				c = other
				break
			}
		}
	} else if !has(c.size) { // it may be a launcher's
		for _, other := range claims {
			if has(other.rank) && has(other.size) {
				c.size = other.size
				break
			}
		}
	}
	for _, name := range []string{c.rank, c.size} {
		if !has(name) {
			hint := ""
			if name == "VERBENA_RANK" {
				hint = ", nor is JOB_COMPLETION_INDEX or a launcher's variable"
			}
			return 0, 0, fmt.Errorf("bootstrap: VERBENA_MEET is set and %s is not%s", name, hint)
		}
	}
	if rank, err = count(lookup, c.rank); err != nil {
		return 0, 0, err
	}
	if size, err = count(lookup, c.size); err != nil {
		return 0, 0, err
	}
	if has("VERBENA_SIZE") {
		if said, err := count(lookup, "VERBENA_SIZE"); err != nil {
			return 0, 0, err
		} else if said != size {
			return 0, 0, fmt.Errorf("bootstrap: VERBENA_SIZE=%d and %s=%d: which is it? Set VERBENA_RANK too, or neither", said, c.size, size)
		}
	}
	return rank, size, checkRank(c.rank, rank, c.size, size)
}

func meetTimeout(lookup func(string) (string, bool)) (time.Duration, error) {
	text, ok := lookup("VERBENA_MEET_TIMEOUT")
	if !ok || text == "" {
		return knobs.Duration("VERBENA_MEET_TIMEOUT"), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > maxMeetTimeout {
		return 0, fmt.Errorf("bootstrap: VERBENA_MEET_TIMEOUT=%s: expected a time up to %v, as 90s or 5m", text, maxMeetTimeout)
	}
	return d, nil
}

const maxMeetTimeout = 24 * time.Hour

// join meets the others.
func (m *meeting) join(ctx context.Context, rank, size int) (*Job, error) {
	way, err := m.way()
	if err != nil {
		return nil, fmt.Errorf("bootstrap: rank %d: %w", rank, err)
	}
	p, err := meet.Join(ctx, meet.Config{Rank: rank, Size: size, Job: m.job, Timeout: m.timeout, Way: way})
	if err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	j := &Job{Rank: rank, Size: size, stderr: os.Stderr, meeting: p, Control: p.Control}
	if err := j.start(ctx, p.PMI); err != nil {
		now, cancel := context.WithCancel(ctx)
		cancel()
		_ = p.Close(now)
		return nil, fmt.Errorf("bootstrap: %w", j.explain(err))
	}
	return j, nil
}

func (m *meeting) way() (meet.Way, error) {
	if m.address == "" {
		return meet.Local("the meeting of the ranks that "+m.host+" has started", m.job)
	}
	s, err := secret.FromFile(m.file)
	if err != nil {
		return nil, fmt.Errorf("VERBENA_SECRET_FILE: %w", err)
	}
	return meet.TCP("VERBENA_MEET", m.address, s, m.silence)
}
