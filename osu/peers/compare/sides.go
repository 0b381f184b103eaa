package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// side is one of the programs that are compared.
type side struct {
	name     string
	ours     bool
	floor    bool     // a bare socket, which is no peer
	asIs     bool     // a peer as it is installed, without settings
	launch   []string // the launcher with its arguments
	bind     []string // and those that bind the ranks, on one host
	onHosts  []string // or those that put them on two hosts, %s and %s
	program  string
	args     []string // of the program, after those of the comparison
	env      []string
	compiler string // of a peer
	about    string // the peer's version
}

// network is what messages go over.
type network string

const (
	shm network = "shm"
	tcp network = "tcp"
)

// raw is the name of the bare socket's side.
const raw = "raw"

// peerSides are the peers, in the order of the report. The launchers' names
// are Debian's, where both implementations can be installed together.
func (n network) peerSides() []*side {
	if n == tcp {
		return tcpSides()
	}
	return []*side{
		openMPI("openmpi"), // shared memory, single copy above 4 KiB
		openMPI("openmpi-two-copy", "--mca", "pml", "ob1", "--mca", "btl", "self,vader",
			"--mca", "btl_vader_single_copy_mechanism", "none"),
		openMPI("openmpi-ucx", append(ucx(), "-x", "UCX_TLS=self,posix,cma")...),
		mpich(),
	}
}

// tcpSides keep the peers from their shared memory. The bare socket is there to
// be compared with.
func tcpSides() []*side {
	sides := []*side{
		openMPI("openmpi", "--mca", "pml", "ob1", "--mca", "btl", "self,tcp"),
		openMPI("openmpi-ucx", append(ucx(), "-x", "UCX_TLS=self,tcp")...),
		mpich("UCX_TLS=self,tcp", "MPIR_CVAR_NOLOCAL=1"),
	}
	for _, s := range sides {
		s.asIs = s.name != "openmpi-ucx" // both choose tcp between hosts
	}
	return append(sides, &side{name: raw, floor: true})
}

func openMPI(name string, settings ...string) *side {
	return &side{
		name:     name,
		asIs:     len(settings) == 0,
		compiler: "mpicc.openmpi",
		launch:   append([]string{"mpirun.openmpi", "-np", "2"}, settings...),
		bind:     []string{"--bind-to", "core"},
		onHosts:  []string{"--host", "%s:1,%s:1", "--bind-to", "none"},
		// Without these it refuses to run as root, as in containers.
		env: []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
	}
}

// ucx are the settings without which the ucx layer is not chosen where there is no
// network adapter.
func ucx() []string {
	return []string{"--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"}
}

func mpich(env ...string) *side {
	return &side{
		name:     "mpich",
		asIs:     len(env) == 0,
		compiler: "mpicc.mpich",
		launch:   []string{"mpiexec.hydra", "-n", "2"},
		bind:     []string{"-bind-to", "core"},
		onHosts:  []string{"-hosts", "%s,%s", "-ppn", "1", "-bind-to", "none"},
		env:      env,
	}
}

func (n network) peerNames() []string {
	var names []string
	for _, s := range n.peerSides() {
		names = append(names, s.name)
	}
	return names
}

// command is the whole command line of a run. The figures get more decimals
// than the two of the C suite, which are a tenth of what a short message takes.
func (r *runner) command(s *side, args []string) []string {
	argv := slices.Concat(s.launch, r.placed(s), []string{s.program})
	switch {
	case s.floor:
		argv = append(argv, "-d", "4")
	case s.ours:
		argv = append(argv, "--cpus", "--decimals", "4")
	default:
		// A peer's ranks end themselves, should their launcher be unable to end
		// them; ours end with theirs.
		limit := int((r.cfg.timeout + 10*time.Second).Seconds())
		argv = append(argv, "-d", "4", "-T", strconv.Itoa(limit))
	}
	return slices.Concat(argv, args, s.args)
}

// placed are the launcher's arguments that say where the ranks run. On two hosts a
// script binds them: virtual hosts of one machine have the same CPUs, and the
// launchers would bind both ranks to the first.
func (r *runner) placed(s *side) []string {
	if len(r.cfg.hosts) == 0 {
		return s.bind
	}
	argv := slices.Clone(s.onHosts)
	for i, a := range argv {
		if strings.Contains(a, "%s") {
			argv[i] = fmt.Sprintf(a, r.cfg.hosts[0], r.cfg.hosts[1])
		}
	}
	return append(argv, r.pin)
}

// pinScript runs its arguments on the CPU whose number is the rank's.
const pinScript = `#!/bin/sh
VERBENA_OWN_CORE=1
export VERBENA_OWN_CORE
exec taskset -c "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" "$@"
`

// pinned says where the ranks must be: as a program prints it.
const pinned = "0 1"

// lastLine is what is worth printing of a failed program's errors.
func lastLine(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && strings.Trim(line, "-=") != "" {
			last = line
		}
	}
	return last
}
