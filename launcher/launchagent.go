package launcher

import (
	"strconv"
	"strings"
	"syscall"
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

// atDeath is the signal for a starter when the process that has started it dies, or 0.
// Ssh may wait for a host that doesn't answer. Srun ends the agent best when its input
// ends: a signal would interrupt that.
func (r reach) atDeath() syscall.Signal {
	if r.name() == "srun" {
		return 0
	}
	return syscall.SIGTERM
}

// idle says whether what a starter says is no news.
func (r reach) idle(line string) bool {
	// The flag is for clusters that do.
	return r.name() == "srun" && strings.HasSuffix(line, "cluster configuration lacks support for cpu binding")
}

// argv is what runs a command on a host.
//
//	ssh [-o OPTION]… [-p PORT] -- [USER@]HOST COMMAND
//	AGENT… [-p PORT] [USER@]HOST COMMAND
//	env -u VARIABLE… srun [OPTION]… WORDS OF THE COMMAND
//
// For ssh and the user's own the command is one argument: a line that the login
// shell there reads, whatever shell that is.
func (r reach) argv(h hostlist.Host, command []string) []string {
	if r.Slurm && r.Agent == "" {
		return append([]string{
			// These would keep the ranks to some of the cores.
			"env", "-u", "SRUN_CPUS_PER_TASK", "-u", "SLURM_EXACT", "-u", "SLURM_CPU_BIND",
			"srun", "--nodes=1", "--ntasks=1", "--nodelist=" + h.Name, "--overlap", "--mpi=none",
			"--cpu-bind=none", "--mem=0", "--quiet",
			"--unbuffered", // or it keeps what isn't a line; the agent gets a terminal then
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

// A script that starts an agent is one line without single quotes, backslashes and
// exclamation marks, which login shells quote differently.
const (
	scriptStart = `if test -f "$0" && test -x "$0"; then exec "$0" "$@"; fi; `

	scriptRefuse = `if test -e "$0"; then echo "` + markerLine + markerDenied + `"; exit 126; fi; ` +
		`echo "` + markerLine + markerMissing + `"; exit 127`

	// scriptCopy makes a copy of SIZE bytes, which come when it says so.
	scriptCopy = `umask 077; d=$(mktemp -d "${TMPDIR:-/tmp}/verbrun-XXXXXXXXXX") || ` +
		`{ echo "` + markerLine + markerFailed + `there is no folder for a copy of verbrun"; exit 1; }; ` +
		`echo "` + markerLine + markerSend + `"; ` +
		`if head -c SIZE >"$d/verbrun" && test $(wc -c <"$d/verbrun") -eq SIZE && chmod 700 "$d/verbrun"; ` +
		`then "$d/verbrun" "$@" "home=$d"; s=$?; ` +
		`else echo "` + markerLine + markerFailed + `verbrun could not be copied to $d"; s=1; fi; ` +
		`rm -rf "$d"; exit $s`
)

// agentCommand is what the other host is to run: the program, or, if it isn't there
// and copy is more than 0, a copy of that size.
func agentCommand(program string, copy int64, args []string) []string {
	script := scriptStart + scriptRefuse
	if copy > 0 {
		script = scriptStart + strings.ReplaceAll(scriptCopy, "SIZE", strconv.FormatInt(copy, 10))
	}
	return append([]string{"/bin/sh", "-c", script, program, agentArg}, args...)
}
