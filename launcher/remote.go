package launcher

import "github.com/verbena-mpi/verbena/internal/hostlist"

// RemoteCommand is what runs a command on a host, as jobs do it: by ssh, by srun in a Slurm
// allocation, or by a user's own command (Job.Agent).
func RemoteCommand(agent string, slurm bool, h hostlist.Host, command []string) []string {
	return reach{Agent: agent, Slurm: slurm}.argv(h, command)
}
