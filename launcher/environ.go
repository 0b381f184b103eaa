package launcher

import (
	"strconv"
	"strings"

	"github.com/verbena-mpi/verbena/internal/control"
)

// rankPMIFD is where a rank finds its connection.
const rankPMIFD = 3

// environ is the environment of one rank: base without what another launcher
// said about itself, then ours. Of two values of a name the last counts.
func environ(base []string, rank, size int, ownCore bool) []string {
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
	r, n := strconv.Itoa(rank), strconv.Itoa(size)
	env = append(env,
		"PMI_FD="+strconv.Itoa(rankPMIFD), "PMI_RANK="+r, "PMI_SIZE="+n,
		"MPI_LOCALRANKID="+r, "MPI_LOCALNRANKS="+n)
	if ownCore {
		env = append(env, "VERBENA_OWN_CORE=1")
	}
	return env
}

// foreign: verbrun may itself have been started by a launcher, or by a rank.
func foreign(name string) bool {
	switch name {
	case "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "VERBENA_OWN_CORE", control.Env:
		return true
	}
	return strings.HasPrefix(name, "PMI_") || strings.HasPrefix(name, "PMIX_")
}
