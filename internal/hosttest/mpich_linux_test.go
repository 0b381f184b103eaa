package hosttest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/verbena-mpi/verbena/internal/testbed"
)

// MPICH programs run under verbrun on several hosts, and hear which ranks share
// one, however ranks lie on hosts. The program ends by an abort with 7, when its
// input ends.
func TestMPICH(t *testing.T) {
	testbed.Need(t, "mpich")
	b := lab(t, 3, "sshd")
	program := filepath.Join(t.TempDir(), "neighbours")
	if out, err := exec.Command("mpicc.mpich", "-o", program, "testdata/neighbours.c").CombinedOutput(); err != nil {
		t.Fatalf("mpicc.mpich: %v: %s", err, out)
	}
	for _, tt := range []struct {
		flags string
		where string // the host of each rank
	}{
		{"--host h0:2,h1:2,h2:2", "001122"},
		{"--host h0:1,h1:3,h2:2", "011122"},
		{"--host h2:2,h0:1", "220"},
		{"--host h0:2,h1:2,h2:2 --map-by node", "012012"},
		{"--host h0:3,h1:1 --map-by node", "0100"},
		{"--host h0:2,h1:1 -n 6 --oversubscribe", "000011"},
		{"--host h1:2,h0:3,h2:1 --map-by node", "102100"},
		{"--host h1:2,h2:2", "1122"},
	} {
		t.Run(tt.flags, func(t *testing.T) {
			// MPICH's ranks spin, and the hosts share this machine's cores: of several
			// ranks that are bound to one core some hardly ever run.
			cmd := b.Command(0, "verbrun", append(strings.Fields("--bind-to none "+tt.flags), program)...)
			cmd.Env = environ()
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			j := begin(t, b, []*exec.Cmd{cmd})
			j.until("a line of each rank", func() bool { return strings.Count(j.stdout(), "\n") >= len(tt.where) })
			if err := in.Close(); err != nil {
				t.Error(err)
			}
			if status := j.wait(); status != 7 {
				t.Errorf("status %d", status)
			}
			var want []string
			n := len(tt.where)
			for rank, host := range tt.where {
				near := strings.Count(tt.where, string(host))
				want = append(want, fmt.Sprintf("rank %d on h%c with %d: %d", rank, host, near, n*(n-1)/2))
			}
			got := strings.Split(strings.TrimSpace(j.stdout()), "\n")
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
