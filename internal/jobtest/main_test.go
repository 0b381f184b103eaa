//go:build linux

package jobtest

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/verbena-mpi/verbena/internal/testbuild"
)

var (
	long = flag.Bool("long", os.Getenv("VERBENA_LONG") == "1", "the full form of the tests")
	bin  string // the folder of what was built
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
	if bin, err = os.MkdirTemp("", "verbena-jobtest-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(bin) }()
	if err := testbuild.Commands(bin,
		"launcher/verbrun", "internal/jobtest/ranks", "examples/...",
		"osu/latency", "osu/bw", "osu/bibw", "osu/mbw_mr", "osu/multi_lat", "osu/init", "osu/hello"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// rounds is how often to repeat, by default and in the full form.
func rounds(normal, full int) int {
	if *long {
		return full
	}
	return normal
}
