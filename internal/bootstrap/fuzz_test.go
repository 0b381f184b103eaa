package bootstrap

import (
	"strings"
	"testing"
)

// Whatever the environment says: the process is alone, a rank of a job that has it, or
// there is an error. Each line is a variable.
func FuzzFind(f *testing.F) {
	for _, env := range []string{
		"", "PMI_FD=5\nPMI_RANK=1\nPMI_SIZE=4", "PMI_PORT=h:1\nPMI_ID=3", "PMI_SIZE=2", "PMIX_RANK=0\nVERBENA_ALONE=1",
		"PMI_FD=-1", "PMI_FD=5\nPMI_RANK=9223372036854775807\nPMI_SIZE=9223372036854775807", "SLURM_STEP_NUM_TASKS=x",
		"VERBENA_RANK=1\nVERBENA_SIZE=4\nVERBENA_MEET=h:1\nVERBENA_SECRET_FILE=/s", "VERBENA_SIZE=1\nVERBENA_RANK=0",
		strings.ReplaceAll(ompi, " ", "\n"), strings.ReplaceAll(srun, " ", "\n"),
	} {
		f.Add(env)
	}
	f.Fuzz(func(t *testing.T, env string) {
		vars := map[string]string{}
		for line := range strings.SplitSeq(env, "\n") {
			if name, value, ok := strings.Cut(line, "="); ok {
				vars[name] = value
			}
		}
		p, err := find(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
		switch {
		case err != nil && p != nil:
			t.Fatalf("both %+v and %v", p, err)
		case p == nil:
		case vars["VERBENA_ALONE"] == "1":
			t.Fatalf("%+v, and it shall be alone", p)
		case (p.fd >= 0 || p.meet != nil) && (p.rank < 0 || p.rank >= p.size):
			t.Fatalf("rank %d of %d", p.rank, p.size)
		case p.meet != nil:
			if (p.meet.address == "") == (p.meet.host == "") || p.size < 2 || p.meet.timeout <= 0 {
				t.Fatalf("%+v %+v", p, p.meet)
			}
		case p.fd < 0 && p.port != vars["PMI_PORT"]:
			t.Fatalf("port %q of %q", p.port, vars["PMI_PORT"])
		}
	})
}
