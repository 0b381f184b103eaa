package launcher

import (
	"strconv"
	"strings"

	"github.com/verbena-mpi/verbena/internal/control"
)

// rankPMIFD is where a rank finds its connection.
const rankPMIFD = 3

// position is what a rank is told about where it is in the job, and on its host.
type position struct {
	rank, size    int
	local, locals int  // among the ranks of its host
	ownCore       bool // no other rank uses it
}

// environ is the environment of one rank: base without what another launcher
// said about itself, then ours. Of two values of a name the last counts.
func environ(base []string, at position) []string {
	env := make([]string, 0, len(base)+6)
	last := map[string]int{}
	for i, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		last[name] = i
	}
	for i, kv := range base {
		if name, _, _ := strings.Cut(kv, "="); !foreign(name) && last[name] == i {
			env = append(env, kv)
		}
	}
	for _, v := range []struct {
		name string
		n    int
	}{{"PMI_FD", rankPMIFD}, {"PMI_RANK", at.rank}, {"PMI_SIZE", at.size}, {"MPI_LOCALRANKID", at.local}, {"MPI_LOCALNRANKS", at.locals}} {
		env = append(env, v.name+"="+strconv.Itoa(v.n))
	}
	if at.ownCore {
		env = append(env, "VERBENA_OWN_CORE=1")
	}
	return env
}

// foreign: verbrun may itself have been started by a launcher, or by a rank.
func foreign(name string) bool {
	switch name {
	case "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "VERBENA_OWN_CORE", preloadEnv, control.Env:
		return true
	}
	return strings.HasPrefix(name, "PMI_") || strings.HasPrefix(name, "PMIX_")
}
