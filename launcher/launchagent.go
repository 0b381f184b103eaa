package launcher

import (
	"strconv"
	"strings"
	"time"

	"github.com/verbena-mpi/verbena/internal/hostlist"
)

// reach says how other hosts are reached.
type reach struct {
	Agent string // the user's own command, or ""
	Slurm bool   // by srun
}

// name is that of the command, for messages.
func (r reach) name() string {
	switch words := strings.Fields(r.Agent); {
	case len(words) > 0:
		return words[0]
	case r.Slurm:
		return "srun"
	}
	return "ssh"
}

// connectLimit is how long ssh may try to reach a host.
const connectLimit = 10 * time.Second

// argv is what runs a command on a host.
//
//	ssh [-o OPTION]… [-p PORT] -- [USER@]HOST COMMAND
//	AGENT… [-p PORT] [USER@]HOST COMMAND
//	srun [OPTION]… WORDS OF THE COMMAND
//
// For ssh and the user's own the command is one argument: a line that the login
// shell there reads, whatever shell that is.
func (r reach) argv(h hostlist.Host, command []string) []string {
	if r.Slurm && r.Agent == "" {
		return append([]string{
			"srun", "--nodes=1", "--ntasks=1", "--nodelist=" + h.Name, "--overlap", "--mpi=none",
			"--cpu-bind=none", "--mem=0", "--quiet",
		}, command...)
	}
	argv := strings.Fields(r.Agent)
	ssh := len(argv) == 0
	if ssh {
		argv = []string{"ssh", "-T", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=" + strconv.Itoa(int(connectLimit.Seconds())), "-o", "ControlMaster=no"}
	}
	if h.Port != 0 {
		argv = append(argv, "-p", strconv.Itoa(h.Port))
	}
	if ssh {
		argv = append(argv, "--")
	}
	name := h.Name
	if h.User != "" {
		name = h.User + "@" + name
	}
	line := "exec"
	for _, w := range command {
		line += " " + shellQuote(w)
	}
	return append(argv, name, line)
}

// agentArg is the first argument of a program that is to be an agent.
const agentArg = "verbena-agent"

// agentScript starts an agent: one line without single quotes, backslashes and
// exclamation marks, which login shells quote differently.
const agentScript = `if test -f "$0" && test -x "$0"; then exec "$0" "$@"; fi; ` +
	`if test -e "$0"; then echo "` + markerLine + markerDenied + `"; exit 126; fi; ` +
	`echo "` + markerLine + markerMissing + `"; exit 127`

// agentCommand is what the other host is to run.
func agentCommand(program string, args []string) []string {
	return append([]string{"/bin/sh", "-c", agentScript, program, agentArg}, args...)
}
