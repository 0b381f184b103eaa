package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/verbena-mpi/verbena/launcher"
)

// command parses the command line and calls start with what it says.
func command(args []string, start func(j launcher.Job, dry bool) error) *cobra.Command {
	var j launcher.Job
	var part partFlags
	var place placeFlags
	var bind, stdin string
	var timeout seconds
	var dry bool
	args, more := splitParts(args)
	cmd := &cobra.Command{
		Use:   "verbrun -n N [flags] program [args…] [: -n N [flags] program [args…]]…",
		Short: "Start the ranks of a job",
		Long: `Verbrun starts N ranks of a program and looks after them. The program is a
file, a name in PATH, or the directory of a Go main package, which is built
first. All that follows the program is the program's, up to a lone colon that a
flag follows: after it comes another program of the same job, with its own -n,
-x, --env-file and --wdir.

With hosts, from a hostfile, --host or a Slurm allocation, there are as many ranks
as slots if -n isn't given.

verbrun info prints the settings, and verbrun doctor what on this machine or on
the hosts would slow or stop a job. docs/LAUNCHING.md has the exit statuses.`,
		Example: `  verbrun -n 4 ./ring
  verbrun -n 2 ./osu/latency -m 1:1024
  verbrun -n 1 ./master : -n 3 -x LEVEL=2 ./worker
  verbrun --host h0:4,h1:4 ./ring
  verbrun --hostfile hosts --map-by node -n 16 ./ring`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no program given; verbrun -h shows how")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if j.Bind, err = launcher.ParseBind(bind); err != nil {
				return fmt.Errorf("--bind-to: %w", err)
			}
			if j.Input, err = launcher.ParseInput(stdin); err != nil {
				return fmt.Errorf("--stdin: %w", err)
			}
			if cmd.Flags().Changed("output-filename") && j.Output.Files == "" {
				return errors.New("--output-filename: an empty name")
			}
			if cmd.Flags().Changed("timeout") && timeout <= 0 {
				return fmt.Errorf("--timeout: %v: expected more than 0", timeout.duration())
			}
			j.Timeout = timeout.duration()
			if err := place.apply(cmd.Flags(), &j, os.Getenv); err != nil {
				return err
			}
			part.slots = len(j.Hosts) > 0 && len(more) == 0
			if j.Parts, err = allParts(cmd.Flags(), &part, args, more); err != nil {
				return err
			}
			return start(j, dry)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.SortFlags = false
	part.register(f)
	place.register(f, &j)
	f.StringVar(&bind, "bind-to", "", "`WHERE` ranks run: none, core or numa (default core if there is one for each rank)")
	f.StringVar(&stdin, "stdin", "", "`WHO` gets standard input: 0, all or none (default rank 0)")
	f.BoolVar(&j.Output.Tag, "tag-output", false, "begin each line of the ranks with \"[rank] \"")
	f.BoolVar(&j.Output.Stamp, "timestamp-output", false, "begin each line with the time")
	f.StringVar(&j.Output.Files, "output-filename", "", "write the ranks' output to files `PREFIX`.RANK.out and PREFIX.RANK.err")
	f.Var((*quoted)(&j.BuildFlags), "build-flags", "flags for go build, as -race or \"-tags=x '-ldflags=-s -w'\"")
	f.Var(&timeout, "timeout", "end the job with status 124 after this time, as 90 (seconds), 90s or 1h30m")
	f.StringVar(&j.Profile, "pprof", "", "`WHAT` to profile: cpu, in rank-N.pprof of each rank of a Verbena program")
	f.BoolVar(&dry, "dry-run", false, "print what would be started, and start nothing")
	f.BoolVar(&j.ReportBindings, "report-bindings", false, "print on which cores each rank runs")
	f.BoolVar(&j.DetectDeadlock, "detect-deadlock", false, "end the job when all ranks wait for each other; without it that is only reported")
	f.BoolVar(&j.Continuous, "continuous", false, "go on when a rank dies")
	f.BoolVar(&j.Verbose, "verbose", false, "say what the launcher does")
	f.BoolP("help", "h", false, "this text")
	f.Bool("version", false, "print the version") // here, or cobra would give it -v
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetArgs(mpirunStyle(f, args))
	return cmd
}
