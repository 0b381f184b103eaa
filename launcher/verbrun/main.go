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
	cmd := command(func(j launcher.Job) error {
		j.Signals, j.Solo = signals, true
		r, err := launcher.Run(ctx, j)
		status = launcher.Status(r, err)
		return err
	})
	cmd.SetArgs(mpirunStyle(cmd.Flags(), args))
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
