//go:build linux

package jobtest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const module = "github.com/verbena-mpi/verbena/"

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
	if err := errors.Join(sources(), build()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// sources opens the folders of all packages. The go command keeps the results of
// tests, and takes notice of what a test itself has opened: without this, it
// would not repeat these tests when what they build has changed.
func sources() error {
	return filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	})
}

// build builds all commands that the tests run, with the race detector if this
// test has it.
func build() error {
	args := []string{"build"}
	if raceOn {
		args = append(args, "-race")
	}
	args = append(args, "-o", bin+string(filepath.Separator))
	for _, pkg := range []string{
		"launcher/verbrun", "internal/jobtest/ranks", "examples/...",
		"osu/latency", "osu/bw", "osu/bibw", "osu/mbw_mr", "osu/multi_lat", "osu/init", "osu/hello",
	} {
		args = append(args, module+pkg)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", args, err, out)
	}
	return nil
}

// rounds is how often to repeat, by default and in the full form.
func rounds(normal, full int) int {
	if *long {
		return full
	}
	return normal
}
