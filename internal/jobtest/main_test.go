//go:build linux

package jobtest

import (
	"flag"
	"os"
	"testing"

	"github.com/verbena-mpi/verbena/internal/testbuild"
)

var (
	long = flag.Bool("long", os.Getenv("VERBENA_LONG") == "1", "the full form of the tests")
	bin  string // the folder of what was built
)

func TestMain(m *testing.M) {
	testbuild.Main(m, &bin,
		"launcher/verbrun", "internal/jobtest/ranks", "examples/...",
		"osu/latency", "osu/bw", "osu/bibw", "osu/mbw_mr", "osu/multi_lat", "osu/init", "osu/hello")
}

// rounds is how often to repeat, by default and in the full form.
func rounds(normal, full int) int {
	if *long {
		return full
	}
	return normal
}
