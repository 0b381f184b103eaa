package hosttest

import (
	"flag"
	"os"
	"testing"

	"github.com/verbena-mpi/verbena/internal/testbed"
	"github.com/verbena-mpi/verbena/internal/testbuild"
)

var (
	long = flag.Bool("long", os.Getenv("VERBENA_LONG") == "1", "the full form of the tests")
	bin  string // the folder of what was built, which all hosts see
)

func TestMain(m *testing.M) {
	testbuild.Main(m, &bin,
		"launcher/verbrun", "internal/jobtest/ranks", "examples/ring", "examples/heat2d",
		"osu/latency", "osu/bw", "osu/bibw", "osu/mbw_mr")
}

// lab makes hosts with all that ways to start a job need, as far as this machine
// has it.
func lab(t *testing.T, hosts int, needs ...string) *testbed.Bed {
	t.Helper()
	testbed.Need(t, needs...)
	b := testbed.New(t, hosts)
	for _, need := range needs {
		switch need {
		case "sshd":
			b.SSH()
		case "slurm":
			b.Slurm()
		}
	}
	return b
}
