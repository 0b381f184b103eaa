package bootstrap

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	ompi = "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_SIZE=3 PMIX_NAMESPACE=j.1"
	srun = "SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=1 SLURM_JOB_ID=77 SLURM_STEP_ID=0"
)

func met(rank, size int, address string, timeout time.Duration) *place {
	return &place{rank: rank, size: size, fd: -1, meet: &meeting{address: address, file: "/s", timeout: timeout, silence: 10 * time.Second}}
}

func silent(p *place, d time.Duration) *place {
	p.meet.silence = d
	return p
}

// hosted is a place within a host; its time limit doesn't count.
func hosted(rank, size int, host, job string) *place {
	return &place{rank: rank, size: size, fd: -1, meet: &meeting{host: host, job: job}}
}

// What each environment means: a place, alone, or an error that says what to
// do.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		env  string
		want *place
		err  string
	}{
		{env: ""},
		{env: "PMI_FD=5 PMI_RANK=1 PMI_SIZE=4", want: &place{rank: 1, size: 4, fd: 5}},
		{env: "PMI_FD=5 PMI_RANK=0 PMI_SIZE=1", want: &place{size: 1, fd: 5}},
		{env: "PMI_PORT=h:1 PMI_ID=3", want: &place{fd: -1, port: "h:1", id: "3"}},
		{env: "PMI_FD=5 PMI_RANK=1 PMI_SIZE=4 SLURM_STEP_NUM_TASKS=4 OMPI_COMM_WORLD_SIZE=2", want: &place{rank: 1, size: 4, fd: 5}},

		{env: "PMI_FD=x PMI_RANK=1 PMI_SIZE=4", err: "PMI_FD=x is no descriptor"},
		{env: "PMI_FD=-2 PMI_RANK=1 PMI_SIZE=4", err: "is no descriptor"},
		{env: "PMI_FD=5 PMI_SIZE=4", err: "PMI_RANK is not: start it with verbrun"},
		{env: "PMI_FD=5 PMI_RANK=4 PMI_SIZE=4", err: "PMI_RANK=4 of PMI_SIZE=4"},
		{env: "PMI_FD=5 PMI_RANK=-1 PMI_SIZE=4", err: "PMI_RANK=-1"},
		{env: "PMI_FD=5 PMI_RANK=0 PMI_SIZE=0", err: "PMI_SIZE=0"},
		{env: "PMI_PORT=h:1", err: "without PMI_ID"},

		{env: "VERBENA_RANK=1 VERBENA_SIZE=4 VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s", want: met(1, 4, "h:1", time.Minute)},
		{env: "JOB_COMPLETION_INDEX=3 VERBENA_SIZE=4 VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s VERBENA_MEET_TIMEOUT=5m", want: met(3, 4, "h:1", 5*time.Minute)},
		{env: "VERBENA_RANK=1 JOB_COMPLETION_INDEX=3 VERBENA_SIZE=4 VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s", want: met(1, 4, "h:1", time.Minute)},
		{env: ompi + " VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s", want: met(1, 3, "h:1", time.Minute)},
		{env: ompi + " VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s VERBENA_SIZE=3", want: met(1, 3, "h:1", time.Minute)},
		{env: ompi + " VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s VERBENA_RANK=7 VERBENA_SIZE=9", want: met(7, 9, "h:1", time.Minute)},
		{env: ompi + " VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s VERBENA_RANK=2", want: met(2, 3, "h:1", time.Minute)},
		{env: srun + " VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s", want: met(2, 4, "h:1", time.Minute)},
		{env: "VERBENA_RANK=1 VERBENA_SIZE=4 VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s VERBENA_PEER_TIMEOUT=2s", want: silent(met(1, 4, "h:1", time.Minute), 2*time.Second)},
		{env: "VERBENA_RANK=1 VERBENA_SIZE=4 VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s VERBENA_PEER_TIMEOUT=x", want: met(1, 4, "h:1", time.Minute)},
		{env: "VERBENA_RANK=0 VERBENA_SIZE=1 VERBENA_MEET=h:1"},
		{env: "VERBENA_RANK=0 VERBENA_SIZE=1"},
		{env: "JOB_COMPLETION_INDEX=3"},
		{env: "VERBENA_SECRET_FILE=/s"}, // in a profile, perhaps
		{env: "VERBENA_RANK=1 VERBENA_SIZE=4 VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s PMI_FD=5 PMI_RANK=0 PMI_SIZE=2", want: &place{rank: 0, size: 2, fd: 5}},
		{env: "VERBENA_RANK=1 VERBENA_SIZE=4 VERBENA_MEET=h:1 VERBENA_SECRET_FILE=/s VERBENA_ALONE=1"},

		{env: "VERBENA_RANK=1 VERBENA_SIZE=4", err: "VERBENA_RANK=1 is set and VERBENA_MEET is not"},
		{env: "VERBENA_SIZE=4", err: "VERBENA_SIZE=4 is set and VERBENA_MEET is not"},
		{env: "VERBENA_RANK=1 VERBENA_SIZE=4 VERBENA_MEET=h:1", err: "VERBENA_SECRET_FILE is not"},
		{env: "VERBENA_RANK=1 VERBENA_SIZE=4 VERBENA_MEET=h:1 VERBENA_SECRET_FILE=", err: "VERBENA_SECRET_FILE is not"},
		{env: "VERBENA_MEET=h:1 VERBENA_SIZE=4", err: "VERBENA_RANK is not, nor is JOB_COMPLETION_INDEX"},
		{env: "VERBENA_MEET=h:1 VERBENA_RANK=1", err: "VERBENA_SIZE is not"},
		{env: "VERBENA_MEET=h:1 JOB_COMPLETION_INDEX=1", err: "VERBENA_RANK is not"},
		{env: "VERBENA_MEET=h:1 VERBENA_RANK=4 VERBENA_SIZE=4", err: "VERBENA_RANK=4 of VERBENA_SIZE=4: not a rank"},
		{env: "VERBENA_MEET=h:1 VERBENA_RANK=-1 VERBENA_SIZE=4", err: "VERBENA_RANK=-1 is no number"},
		{env: "VERBENA_MEET=h:1 VERBENA_RANK=1 VERBENA_SIZE=many", err: "VERBENA_SIZE=many is no number"},
		{env: "VERBENA_MEET=h:1 JOB_COMPLETION_INDEX=4 VERBENA_SIZE=4", err: "JOB_COMPLETION_INDEX=4 of VERBENA_SIZE=4"},
		{env: ompi + " VERBENA_MEET=h:1 VERBENA_SIZE=9", err: "VERBENA_SIZE=9 and OMPI_COMM_WORLD_SIZE=3: which is it?"},
		{env: "VERBENA_MEET=h:1 VERBENA_RANK=1 VERBENA_SIZE=4 VERBENA_SECRET_FILE=/s VERBENA_MEET_TIMEOUT=5", err: "VERBENA_MEET_TIMEOUT=5: expected a time up to"},
		{env: "VERBENA_MEET=h:1 VERBENA_RANK=1 VERBENA_SIZE=4 VERBENA_SECRET_FILE=/s VERBENA_MEET_TIMEOUT=-5s", err: "VERBENA_MEET_TIMEOUT=-5s"},
		{env: "VERBENA_MEET=h:1 VERBENA_RANK=1 VERBENA_SIZE=4 VERBENA_SECRET_FILE=/s VERBENA_MEET_TIMEOUT=500h", err: "up to 24h0m0s"},

		{env: ompi + " PMIX_RANK=1", want: hosted(1, 3, "Open MPI's mpirun", "j.1  ")},
		{env: ompi + " PMIX_SERVER_TMPDIR=/tmp/x OMPI_MCA_orte_precondition_transports=ab VERBENA_MEET_TIMEOUT=1s", want: hosted(1, 3, "Open MPI's mpirun", "j.1 /tmp/x ab")},
		{env: "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0"},
		{env: "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=j PMIX_RANK=1", err: "more than one host, and Verbena doesn't speak its protocol: pass VERBENA_MEET=host:port"},
		{env: "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_SIZE=3", err: "mpirun -x VERBENA_MEET -x VERBENA_SECRET_FILE"}, // which job?
		{env: "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=3", err: "OMPI_COMM_WORLD_RANK=3 of OMPI_COMM_WORLD_SIZE=3"},
		{env: srun, want: hosted(2, 4, "srun", "77 0 ")},
		{env: srun + " PMIX_RANK=2 SLURM_CLUSTER_NAME=c", want: hosted(2, 4, "srun", "77 0 c")},
		{env: ompi + " " + srun, want: hosted(1, 3, "Open MPI's mpirun", "j.1  ")}, // mpirun inside a step
		{env: "SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2 SLURM_JOB_ID=7 SLURM_STEP_ID=0", err: "more than one host, without PMI: use srun --mpi=pmi2"},
		{env: "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_STEP_NUM_NODES=1 SLURM_JOB_ID=7 SLURM_STEP_ID=0"},
		{env: "SLURM_PROCID=0 SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_NNODES=1"}, // a batch script's own process

		{env: "SLURM_STEP_NUM_TASKS=4", err: "srun --mpi=pmi2 -n N program"},
		{env: "SLURM_STEP_NUM_TASKS=1"},
		{env: "SLURM_NTASKS=4"}, // of a batch script, whose own process is alone
		{env: "OMPI_COMM_WORLD_SIZE=2", err: "verbrun -n N program"},
		{env: "OMPI_COMM_WORLD_SIZE=1"},
		{env: "PMI_SIZE=2", err: "PMI_SIZE=2"},
		{env: "PMI_SIZE=1"},
		{env: "PMIX_RANK=0", err: "srun --mpi=pmi2"},
		{env: "PMIX_RANK=0 VERBENA_ALONE=1"},
		{env: "SLURM_STEP_NUM_TASKS=4 VERBENA_ALONE=0", err: "SLURM_STEP_NUM_TASKS=4"},
		{env: "PMI_FD=5 PMI_RANK=1 PMI_SIZE=4 VERBENA_ALONE=1"},
	} {
		env := map[string]string{}
		for kv := range strings.FieldsSeq(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		got, err := find(func(k string) (string, bool) { v, ok := env[k]; return v, ok })
		if got != nil && got.meet != nil && got.meet.host != "" {
			if runtime.GOOS != "linux" {
				continue
			}
			got.meet.timeout = 0
		}
		switch {
		case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v; expected %q", c.env, err, c.err)
		case !cmp.Equal(got, c.want, cmp.AllowUnexported(place{}, meeting{})):
			t.Errorf("%s: %+v, expected %+v", c.env, got, c.want)
		}
		if err != nil && strings.Contains(c.err, "srun") && !strings.Contains(err.Error(), "VERBENA_ALONE=1") {
			t.Errorf("%s: %v doesn't name the way out", c.env, err)
		}
	}
}
