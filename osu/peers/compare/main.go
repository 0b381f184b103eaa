// Compare runs a benchmark of this library and the same benchmark of the MPI
// implementations at hand, and prints how they stand to each other.
//
// The sides alternate, round after round, with their two ranks pinned to CPUs
// 0 and 1. Before and after each run the time that a cache line takes from the
// one CPU to the other is measured: runs during which the hypervisor moved the
// CPUs are discarded, and so are those during which other programs used them;
// the rest is compared within one placement.
//
//	go run ./osu/peers/compare -bench latency -sizes 8,65536,1048576 -rounds 5
//
// With -net tcp both are kept from their shared memory, and a bare socket runs
// beside them (osu/peers/rawtcp). With -hosts each rank is on a host of its own,
// which the launchers reach by ssh and which have the same file system.
//
// Peers that are not installed are named with the reason, and left out. On
// Debian the packages are openmpi-bin, libopenmpi-dev, mpich, libmpich-dev.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// config is the command line.
type config struct {
	bench      string
	net        network
	hosts      []string // none, or two
	sizes      []int
	rounds     int
	maxRounds  int
	iterations int // 0: the programs' default
	warmUp     int // below 0: the programs' default
	window     int // 0: the programs' default
	peers      []string
	ours       []variant
	far        float64
	others     float64
	wait       time.Duration
	timeout    time.Duration
	output     string
	verbose    bool
}

func main() {
	cfg, err := parse(os.Args[1:], os.Stderr)
	if err == flag.ErrHelp {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	// The first signal ends the present run and, with it, the comparison.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := compare(ctx, cfg); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// compare builds, runs and reports.
func compare(ctx context.Context, cfg *config) error {
	dir, err := os.MkdirTemp("", "verbena-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	r := &runner{cfg: cfg, log: os.Stderr}
	if err := r.build(ctx, dir); err != nil {
		return err
	}
	// What was measured until an interruption is worth printing too.
	interrupted := r.rounds(ctx)
	if interrupted != nil && r.runs.count() == 0 {
		return interrupted
	}
	rep := r.report()
	if err := rep.text(os.Stdout); err != nil {
		return err
	}
	if cfg.output != "" {
		if err := writeMarkdown(cfg.output, rep); err != nil {
			return err
		}
	}
	return interrupted
}

func writeMarkdown(file string, rep *report) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := rep.markdown(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
