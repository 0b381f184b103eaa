// Verbrun starts the ranks of a job and looks after them:
//
//	verbrun -n 4 ./program args…
//	verbrun -n 4 ./examples/ring
//
// See package launcher for what it promises.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/verbena-mpi/verbena/launcher"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, launcher.ForwardedSignals()...)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	withParent(cancel)
	status := 0
	start := func(j launcher.Job, dry bool) error {
		if dry {
			return launcher.DryRun(j, os.Stdout)
		}
		j.Signals, j.Solo = signals, true
		r, err := launcher.Run(ctx, j)
		status = launcher.Status(r, err)
		return err
	}
	var cmd *cobra.Command
	switch {
	case len(args) > 0 && args[0] == "info":
		cmd = infoCommand(args[1:])
	case len(args) > 0 && args[0] == "doctor":
		signal.Reset() // there is nobody to pass them on to
		cmd = doctorCommand(ctx, args[1:], func(s int) { status = s })
	default:
		cmd = command(args, start)
	}
	if err := cmd.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "verbrun:", err)
		if status == 0 {
			var e *launcher.Error
			status = launcher.StatusUsage
			if errors.As(err, &e) {
				status = e.Status
			}
		}
	}
	return status
}
