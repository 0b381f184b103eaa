package hosttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/verbena-mpi/verbena/internal/testbed"
)

// shape is how many hosts a job has, and how many ranks each of them.
type shape struct{ hosts, each int }

func (s shape) ranks() int { return s.hosts * s.each }

// way is a way to start a job, on host 0 or by a process for each rank.
type way struct {
	name  string
	needs []string
	// line is what a user types; words in braces depend on the shape. None: a
	// process for each rank.
	line string
	// alone says that it is for one host.
	alone bool
	// then is what the test has the shell do after the line, with its status in $s.
	then string
	// slow: it takes seconds to begin.
	slow bool
	// kills: its launcher ends all ranks when one or a host is lost, perhaps before
	// they notice themselves; names: and says which. hangs: it may wait for what is
	// silent for ever, when all ranks have ended.
	kills, names, hangs bool
}

// ways are all of docs/HOSTS.md.
var ways = []way{
	{name: "ssh", kills: true, names: true, needs: []string{"sshd"}, line: "verbrun --host {slots} ./program"},
	{name: "hostfile", kills: true, names: true, needs: []string{"sshd"}, line: "verbrun --hostfile hosts -n {ranks} ./program"},
	{name: "allocation", kills: true, names: true, needs: []string{"slurm"}, line: "salloc -Q -N{hosts} --ntasks-per-node={each} verbrun ./program"},
	{
		name: "batch", kills: true, names: true, needs: []string{"slurm"}, line: `sbatch --wait -o out -Q -N{hosts} --ntasks-per-node={each} --wrap "verbrun ./program"`,
		then: "cat out", slow: true,
	},
	{name: "srun", needs: []string{"slurm"}, line: "srun --mpi=pmi2 -N{hosts} --ntasks-per-node={each} ./program"},
	{name: "hydra", kills: true, hangs: true, needs: []string{"sshd", "hydra"}, line: "mpiexec.hydra -hosts {names} -ppn {each} -n {ranks} ./program"},
	{name: "openmpi, one host", needs: []string{"openmpi"}, line: "mpirun.openmpi -n {ranks} ./program", alone: true},
	{name: "openmpi", kills: true, hangs: true, needs: []string{"sshd", "openmpi"}, line: "mpirun.openmpi --host {slots} -x VERBENA_MEET=h0:4711 -x VERBENA_SECRET_FILE=secret -n {ranks} ./program"},
	{name: "plain processes"},
}

// find is the way of a name.
func find(name string) way {
	i := slices.IndexFunc(ways, func(w way) bool { return w.name == name })
	return ways[i]
}

// typed is the line for a shape and a program.
func (w way) typed(s shape, program string) string {
	var names, slots []string
	for i := range s.hosts {
		names = append(names, testbed.Name(i))
		slots = append(slots, fmt.Sprintf("%s:%d", testbed.Name(i), s.each))
	}
	return strings.NewReplacer(
		"{hosts}", strconv.Itoa(s.hosts), "{each}", strconv.Itoa(s.each), "{ranks}", strconv.Itoa(s.ranks()),
		"{names}", strings.Join(names, ","), "{slots}", strings.Join(slots, ","), "./program", program,
	).Replace(w.line)
}

// start starts a program in this way.
func (w way) start(t *testing.T, b *testbed.Bed, s shape, env []string, program string, args ...string) *job {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "hosts", hostfile(s))
	write(t, dir, "secret", "sixteen bytes or more")
	program = strings.Join(append([]string{filepath.Join(bin, program)}, args...), " ")
	if w.name == "openmpi" { // which passes on what it is told to
		for _, kv := range env {
			program = "-x " + kv + " " + program
		}
	}
	var cmds []*exec.Cmd
	if w.line != "" {
		cmds = []*exec.Cmd{b.Command(0, "sh", "-c", w.typed(s, program)+"\ns=$?\n"+w.then+"\nexit $s")}
	}
	for rank := 0; w.line == "" && rank < s.ranks(); rank++ {
		cmds = append(cmds, b.Command(rank/s.each, "sh", "-c", fmt.Sprintf("exec env VERBENA_RANK=%d VERBENA_SIZE=%d VERBENA_MEET=h0:4711 VERBENA_SECRET_FILE=secret %s",
			rank, s.ranks(), program)))
	}
	for _, cmd := range cmds {
		cmd.Dir = dir
		cmd.Env = append(environ(), env...)
	}
	return begin(t, b, cmds)
}

func hostfile(s shape) string {
	var text strings.Builder
	for i := range s.hosts {
		fmt.Fprintf(&text, "%s slots=%d\n", testbed.Name(i), s.each)
	}
	return text.String()
}

// environ is this process's environment without what speaks to ranks, with what
// was built in PATH, and what Open MPI asks of a superuser.
func environ() []string {
	env := []string{
		"GORACE=atexit_sleep_ms=0", // or each rank sleeps a second when it ends
		"PATH=" + bin + ":" + os.Getenv("PATH"),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_rmaps_base_oversubscribe=1",
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		prefix, _, _ := strings.Cut(name, "_")
		switch prefix {
		case "VERBENA", "PMI", "PMIX", "OMPI", "SLURM", "GOMAXPROCS", "GORACE", "PATH":
		default:
			env = append(env, kv)
		}
	}
	return env
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
