package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/verbena-mpi/verbena/internal/hostlist"
)

// localAgent is a launch agent that is a shell of this host.
func localAgent(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "agent")
	// A login shell may greet first, and not end its line.
	if err := os.WriteFile(name, []byte("#!/bin/sh\necho welcome to $1; printf 'have fun'\nexec /bin/sh -c \"$2\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// elsewhere are hosts that aren't this one, and have no names to look up.
func elsewhere(n int) (hosts []hostlist.Host) {
	for i := range n {
		hosts = append(hosts, hostlist.Host{Name: fmt.Sprintf("198.51.100.%d", i+1)})
	}
	return hosts
}

func here() hostlist.Host { return hostlist.Host{Name: "127.0.0.1"} }

func sorted(out string) []string {
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

func TestHosts(t *testing.T) {
	before := descriptors(t)
	for _, hosts := range [][]hostlist.Host{
		elsewhere(2),
		append([]hostlist.Host{here()}, elsewhere(2)...),
		append(elsewhere(1), here()),
	} {
		j := Job{Hosts: hosts, Agent: localAgent(t), MapBy: MapBy{Kind: MapNode}}
		r, out, err := sh(t, t.Context(), j, 4, "echo $PMI_RANK of $PMI_SIZE, $MPI_LOCALRANKID of $MPI_LOCALNRANKS; echo err $PMI_RANK >&2")
		if err != nil || r != (Result{Rank: -1}) {
			t.Errorf("%+v, %v, %q", r, err, out)
		}
		var want []string
		for i := range 4 {
			n := len(hosts)
			want = append(want, fmt.Sprintf("%d of 4, %d of %d", i, i/n, (4-i%n+n-1)/n), fmt.Sprintf("err %d", i))
		}
		slices.Sort(want)
		if got := sorted(out); !slices.Equal(got, want) {
			t.Errorf("%d hosts: %q, expected %q", len(hosts), got, want)
		}
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
