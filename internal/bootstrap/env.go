package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/knobs"
)

// taken: the launcher's descriptor belongs to the process and not to a value,
// so a second call must not find an empty environment and believe to be alone.
var taken atomic.Bool

var errTaken = errors.New("bootstrap: this process has already joined its job, and can do so once")

// FromEnv joins the job that the environment describes. Afterwards the
// environment doesn't describe it any more, and the launcher's descriptor is
// closed on exec: a child of this process is no rank.
//
// A process started alone gets a job of one. VERBENA_ALONE=1 makes it one
// whatever else the environment says.
//
// It returns when all ranks have come, where they meet (internal/meet); a launcher's
// may still be on their way.
func FromEnv(ctx context.Context) (*Job, error) {
	if taken.Load() { // whatever is left of the environment
		return nil, errTaken
	}
	place, err := find(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	if place == nil {
		return alone(), nil
	}
	if !taken.CompareAndSwap(false, true) {
		return nil, errTaken
	}
	var j *Job
	if place.meet != nil {
		if j, err = place.meet.join(ctx, place.rank, place.size); err != nil {
			taken.Store(false) // there may be another try: nothing was inherited that is used up
		}
	} else {
		ctx, cancel := context.WithTimeout(ctx, initTimeout)
		defer cancel()
		j, err = place.join(ctx)
	}
	if err != nil {
		return nil, err
	}
	forget()
	return j, nil
}

// place is what the environment says: one of three ways to the job's other ranks.
type place struct {
	rank, size int

	fd       int    // of PMI_FD, or -1
	port, id string // PMI_PORT and PMI_ID
	meet     *meeting
}

// find reads the environment. Neither a place nor an error: alone.
func find(lookup func(string) (string, bool)) (*place, error) {
	if v, _ := lookup("VERBENA_ALONE"); v == "1" {
		return nil, nil
	}
	if fd, ok := lookup("PMI_FD"); ok {
		return fromFD(fd, lookup)
	}
	if port, ok := lookup("PMI_PORT"); ok {
		id, ok := lookup("PMI_ID")
		if !ok {
			return nil, fmt.Errorf("bootstrap: PMI_PORT=%s without PMI_ID: %s", port, useThis)
		}
		return &place{fd: -1, port: port, id: id}, nil
	}
	if p, found, err := fromMeeting(lookup); found || err != nil {
		return p, err
	}
	if p, found, err := fromHost(lookup); found || err != nil {
		return p, err
	}
	return nil, notAlone(lookup)
}

func fromFD(fd string, lookup func(string) (string, bool)) (*place, error) {
	n, err := strconv.Atoi(fd)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("bootstrap: PMI_FD=%s is no descriptor", fd)
	}
	rank, err := number(lookup, "PMI_RANK")
	if err != nil {
		return nil, err
	}
	size, err := number(lookup, "PMI_SIZE")
	if err != nil {
		return nil, err
	}
	if err := checkRank("PMI_RANK", rank, "PMI_SIZE", size); err != nil {
		return nil, err
	}
	return &place{rank: rank, size: size, fd: n}, nil
}

func checkRank(rankName string, rank int, sizeName string, size int) error {
	if size < 1 || rank >= size {
		return fmt.Errorf("bootstrap: %s=%d of %s=%d: not a rank of the job", rankName, rank, sizeName, size)
	}
	return nil
}

// number is a variable of those that come with PMI_FD.
func number(lookup func(string) (string, bool), name string) (int, error) {
	if _, ok := lookup(name); !ok {
		return 0, fmt.Errorf("bootstrap: PMI_FD is set and %s is not: %s", name, useThis)
	}
	return count(lookup, name)
}

// count is a variable that is set.
func count(lookup func(string) (string, bool), name string) (int, error) {
	v, _ := lookup(name)
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("bootstrap: %s=%s is no number from 0", name, v)
	}
	return n, nil
}

const useThis = "start it with verbrun -n N program, mpiexec.hydra -n N program or srun --mpi=pmi2 -n N program; or set VERBENA_ALONE=1 to run this process alone"

// useMeeting is what helps where a launcher says no more than who is which rank.
const useMeeting = "pass VERBENA_MEET=host:port, an address on the host of rank 0, and VERBENA_SECRET_FILE, a file with the same content on all hosts"

// notAlone is the error of a process that other variables say has company.
func notAlone(lookup func(string) (string, bool)) error {
	for _, s := range signs {
		v, ok := lookup(s.name)
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(v); s.name != "PMIX_RANK" && err == nil && n <= 1 {
			continue
		}
		return fmt.Errorf("bootstrap: %s=%s: %s; or set VERBENA_ALONE=1 to run each process alone", s.name, v, s.command)
	}
	return nil
}

// signs are the variables that say that there are other ranks, and what to do
// where that is all there is.
var signs = []struct{ name, command string }{
	{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun started ranks on more than one host, and Verbena doesn't speak its protocol: " + useMeeting + " (mpirun -x VERBENA_MEET -x VERBENA_SECRET_FILE); or use verbrun -n N program"},
	{"PMIX_RANK", "a PMIx launcher started this process and Verbena doesn't speak PMIx: use srun --mpi=pmi2 -n N program, or verbrun -n N program; or " + useMeeting},
	{"SLURM_STEP_NUM_TASKS", "srun started ranks on more than one host, without PMI: use srun --mpi=pmi2 -n N program; or " + useMeeting},
	{"PMI_SIZE", "a launcher started this process and left no connection (PMI_FD): use verbrun -n N program, mpiexec.hydra -n N program or srun --mpi=pmi2 -n N program"},
}

// forget removes what would make a child believe to be a rank, or to have been
// started as one without a connection.
func forget() {
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "PMI_") {
			_ = os.Unsetenv(name)
		}
	}
	for _, s := range signs {
		_ = os.Unsetenv(s.name)
	}
	for _, k := range knobs.Meeting {
		_ = os.Unsetenv(k.Name)
	}
	_ = os.Unsetenv(control.Env)
}
