package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/verbena-mpi/verbena/internal/doctor"
	"github.com/verbena-mpi/verbena/internal/hostlist"
	"github.com/verbena-mpi/verbena/launcher"
)

// statusProblem is the status of a doctor who has found what stops a job.
const statusProblem = 1

// doctorCommand is verbrun doctor. found gets the exit status.
func doctorCommand(ctx context.Context, args []string, found func(status int)) *cobra.Command {
	var source sourceFlags
	var agent string
	var helper bool
	cmd := &cobra.Command{
		Use:   "verbrun doctor [--hostfile FILE] [--host a,b…]",
		Short: "Look for what would slow or stop a job",
		Long: `Doctor looks at this machine, and with hosts at each of them and at the
connections between all of them: each host is reached as a job would reach it, and
connects to all others. It prints a line for each thing that it has looked at. The
status is 1 if something would stop a job, and else 0.`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m := doctor.ThisMachine()
			m.Version = version()
			if helper {
				return doctor.Help(ctx, m, os.Stdin, os.Stdout)
			}
			hosts, slurm, err := source.hosts(os.Getenv)
			if err != nil {
				return err
			}
			if len(hosts) == 0 && agent != "" {
				return errors.New("--launch-agent: there are no other hosts: name them by --hostfile or --host")
			}
			findings, err := findings(ctx, m, hosts, slurm, agent)
			if err != nil {
				return err
			}
			if doctor.Stops(findings) {
				found(statusProblem)
			}
			return doctor.Write(cmd.OutOrStdout(), findings)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	source.register(f)
	f.StringVar(&agent, "launch-agent", "", "the `COMMAND` that runs another one on a host (default ssh, or srun in a Slurm allocation)")
	f.BoolVar(&helper, "helper", false, "")
	_ = f.MarkHidden("helper") // on other hosts
	f.BoolP("help", "h", false, "this text")
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetArgs(mpirunStyle(f, args))
	return cmd
}

// findings are those about this machine, and about hosts if there are any.
func findings(ctx context.Context, m *doctor.Machine, hosts []hostlist.Host, slurm bool, agent string) ([]doctor.Finding, error) {
	if len(hosts) == 0 {
		return doctor.Look(ctx, m), nil
	}
	self := hostlist.ThisHost()
	if slurm {
		self = hostlist.SlurmHost(os.Getenv)
	}
	hosts = self.Mark(ctx, hosts)
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the name of this program: %w", err)
	}
	command := func(h hostlist.Host) []string {
		return launcher.RemoteCommand(agent, slurm, h, []string{exe, "doctor", "--helper"})
	}
	for _, h := range hosts {
		if !h.Local {
			m.Hosts, m.Starter = true, command(h)[0]
		}
	}
	return append(doctor.Look(ctx, m), doctor.Hosts(ctx, doctor.Plan{Hosts: hosts, Machine: m, Command: command})...), nil
}
