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
)

// taken: the launcher's descriptor belongs to the process and not to a value,
// so a second call must not find an empty environment and believe to be alone.
var taken atomic.Bool

// FromEnv joins the job that the environment describes. Afterwards the
// environment doesn't describe it any more, and the launcher's descriptor is
// closed on exec: a child of this process is no rank.
//
// A process started alone gets a job of one. VERBENA_ALONE=1 makes it one
// whatever else the environment says.
func FromEnv() (*Job, error) {
	if taken.Load() {
		return nil, errors.New("bootstrap: this process has already joined its job, and can do so once")
	}
	place, err := find(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	if place == nil {
		return alone(), nil
	}
	taken.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), initTimeout)
	defer cancel()
	j, err := place.join(ctx)
	if err != nil {
		return nil, err
	}
	forget()
	return j, nil
}

// place is what the environment says.
type place struct {
	rank, size int
	fd         int    // of PMI_FD, or -1
	port, id   string // PMI_PORT and PMI_ID
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
	if size < 1 || rank >= size {
		return nil, fmt.Errorf("bootstrap: PMI_RANK=%d of PMI_SIZE=%d: not a rank of the job", rank, size)
	}
	return &place{rank: rank, size: size, fd: n}, nil
}

func number(lookup func(string) (string, bool), name string) (int, error) {
	v, ok := lookup(name)
	if !ok {
		return 0, fmt.Errorf("bootstrap: PMI_FD is set and %s is not: %s", name, useThis)
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("bootstrap: %s=%s is no number from 0", name, v)
	}
	return n, nil
}

const useThis = "start it with verbrun -n N program, mpiexec.hydra -n N program or srun --mpi=pmi2 -n N program; or set VERBENA_ALONE=1 to run this process alone"

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
	{"PMIX_RANK", "a PMIx launcher started this process and Verbena doesn't speak PMIx: use srun --mpi=pmi2 -n N program, or verbrun -n N program"},
	{"SLURM_STEP_NUM_TASKS", "srun started this process without PMI: use srun --mpi=pmi2 -n N program"},
	{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun started this process and Verbena doesn't speak its protocol: use verbrun -n N program, or mpiexec.hydra -n N program"},
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
	_ = os.Unsetenv(control.Env)
}
