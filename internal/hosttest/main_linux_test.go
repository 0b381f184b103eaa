package hosttest

import (
	"flag"
	"fmt"
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
	flag.Parse()
	if testing.Short() {
		fmt.Println("skipped: builds and runs commands")
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "verbena-hosttest-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(bin) }()
	if err := testbuild.Commands(bin,
		"launcher/verbrun", "internal/jobtest/ranks", "examples/ring", "examples/heat2d",
		"osu/latency", "osu/bw", "osu/bibw", "osu/mbw_mr"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
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
