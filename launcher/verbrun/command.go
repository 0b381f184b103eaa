package main

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/verbena-mpi/verbena/launcher"
)

// command parses the command line and calls start with what it says.
func command(start func(launcher.Job) error) *cobra.Command {
	var j launcher.Job
	var bind string
	cmd := &cobra.Command{
		Use:   "verbrun -n N [flags] program [args…]",
		Short: "Start the ranks of a job",
		Long: `Verbrun starts N ranks of a program and looks after them. The program is a
file, a name in PATH, or the directory of a Go main package, which is built
first. All that follows the program is the program's.`,
		Example: `  verbrun -n 4 ./ring
  verbrun -n 2 ./osu/latency -m 1:1024`,
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
			if !cmd.Flags().Changed("n") {
				return errors.New("how many ranks? Say -n N")
			}
			if j.Bind, err = launcher.ParseBind(bind); err != nil {
				return fmt.Errorf("--bind-to: %w", err)
			}
			if cmd.Flags().Changed("timeout") && j.Timeout <= 0 {
				return fmt.Errorf("--timeout: %v: expected more than 0", j.Timeout)
			}
			j.Program, j.Args = args[0], args[1:]
			return start(j)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.SortFlags = false
	f.IntVarP(&j.Ranks, "n", "n", 0, "how many ranks")
	f.StringVar(&bind, "bind-to", "", "none, or core: rank i on the i-th allowed core (default core if there is one for each rank)")
	f.DurationVar(&j.Timeout, "timeout", 0, "end the job with status 124 after this time, as 90s or 1h30m")
	f.BoolVar(&j.Verbose, "verbose", false, "say what the launcher does")
	f.BoolP("help", "h", false, "this text")
	f.Bool("version", false, "print the version") // here, or cobra would give it -v
	cmd.CompletionOptions.DisableDefaultCmd = true
	return cmd
}

// version is the module's, as the go command recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
