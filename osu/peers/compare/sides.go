package main

import (
	"strconv"
	"strings"
	"time"
)

// side is one of the programs that are compared.
type side struct {
	name     string
	ours     bool
	asIs     bool     // a peer as it is installed, without settings
	launch   []string // the launcher with its arguments
	program  string
	args     []string // of the program, after those of the comparison
	env      []string
	compiler string // of a peer
	about    string // the peer's version
}

// peerSides are the peers, in the order of the report. The launchers' names
// are Debian's, where both implementations can be installed together.
func peerSides() []*side {
	openMPI := func(name string, settings ...string) *side {
		return &side{
			name:     name,
			asIs:     len(settings) == 0,
			compiler: "mpicc.openmpi",
			launch:   append([]string{"mpirun.openmpi", "-np", "2", "--bind-to", "core"}, settings...),
			// Without these it refuses to run as root, as in containers.
			env: []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
		}
	}
	return []*side{
		openMPI("openmpi"), // shared memory, single copy above 4 KiB
		openMPI("openmpi-two-copy", "--mca", "pml", "ob1", "--mca", "btl", "self,vader",
			"--mca", "btl_vader_single_copy_mechanism", "none"),
		// Without the two lists the ucx layer is not chosen where there is no
		// network adapter.
		openMPI("openmpi-ucx", "--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any",
			"-x", "UCX_TLS=self,posix,cma"),
		{
			name:     "mpich",
			asIs:     true,
			compiler: "mpicc.mpich",
			launch:   []string{"mpiexec.hydra", "-n", "2", "-bind-to", "core"},
		},
	}
}

func peerNames() []string {
	var names []string
	for _, s := range peerSides() {
		names = append(names, s.name)
	}
	return names
}

// command is the whole command line of a run. The figures get more decimals
// than the two of the C suite, which are a tenth of what a short message takes.
func (s *side) command(args []string, timeout time.Duration) []string {
	argv := append([]string(nil), s.launch...)
	argv = append(argv, s.program)
	if s.ours {
		argv = append(argv, "--cpus", "--decimals", "4")
	} else {
		// A peer's ranks end themselves, should their launcher be unable to end
		// them; ours end with theirs.
		limit := int((timeout + 10*time.Second).Seconds())
		argv = append(argv, "-d", "4", "-T", strconv.Itoa(limit))
	}
	argv = append(argv, args...)
	return append(argv, s.args...)
}

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
