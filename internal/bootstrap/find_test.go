package bootstrap

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		switch {
		case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v; expected %q", c.env, err, c.err)
		case !cmp.Equal(got, c.want, cmp.AllowUnexported(place{})):
			t.Errorf("%s: %+v, expected %+v", c.env, got, c.want)
		}
		if err != nil && strings.Contains(c.err, "srun") && !strings.Contains(err.Error(), "VERBENA_ALONE=1") {
			t.Errorf("%s: %v doesn't name the way out", c.env, err)
		}
	}
}
