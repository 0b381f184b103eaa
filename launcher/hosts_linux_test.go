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

// Beyond its fan-out the supervisor has agents start agents, and these others.
func TestTree(t *testing.T) {
	before := descriptors(t)
	const n = 7
	j := Job{Hosts: elsewhere(n), Agent: localAgent(t), FanOut: 2, MapBy: MapBy{Kind: MapNode}}
	// Each agent is the child of another's, but for two.
	r, out, err := sh(t, t.Context(), j, 2*n, `echo $PMI_RANK; read x; test -z "$x" || exit 3; echo err >&2`)
	if err != nil || r != (Result{Rank: -1}) || strings.Count(out, "err\n") != 2*n || strings.Count(out, "\n") != 4*n {
		t.Errorf("%+v, %v, %q", r, err, out)
	}
	r, out, err = sh(t, t.Context(), j, 2*n, `test $PMI_RANK = 13 || exec sleep 60; exit 5`)
	if err != nil || r.Status != 5 || r.Rank != 13 || !strings.Contains(r.Why, "rank 13 on 198.51.100.7 (pid ") {
		t.Errorf("%+v, %v, %q", r, err, out)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// parents says which agent starts which.
func TestTreeParents(t *testing.T) {
	v := &supervisor{spec: spec{FanOut: 2, Plan: &plan{}, Input: InputNone}}
	for i := range 9 {
		v.spec.Plan.Hosts = append(v.spec.Plan.Hosts, hostlist.Host{Name: fmt.Sprint(i)})
		v.spec.Plan.Seats = append(v.spec.Plan.Seats, seat{Host: i})
		v.spec.Plan.Count = append(v.spec.Plan.Count, 1)
		v.ranks = append(v.ranks, &rank{id: i})
	}
	v.newHosts()
	var got []string
	for _, h := range v.hosts {
		p := "-"
		if h.parent != nil {
			p = h.parent.name
		}
		got = append(got, p)
	}
	if want := strings.Fields("- - 0 0 1 1 2 2 3"); !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

// Where hosts can't reach each other all are reached from here.
func TestTreeInVain(t *testing.T) {
	agent := launchScript(t, `case $(tr '\0' ' ' </proc/$PPID/cmdline) in verbena-agent-ranks*) echo no way to $1 >&2; exit 255;; esac; exec /bin/sh -c "$2"`)
	j := Job{Hosts: elsewhere(7), Agent: agent, FanOut: 2, MapBy: MapBy{Kind: MapNode}, Verbose: true}
	r, out, err := sh(t, t.Context(), j, 7, `echo rank $PMI_RANK`)
	if err != nil || r != (Result{Rank: -1}) || strings.Count(out, "\nrank ") != 7 && strings.Count("\n"+out, "\nrank ") != 7 {
		t.Errorf("%+v, %v, %s", r, err, out)
	}
	if n := strings.Count(out, "trying from here"); n != 5 {
		t.Errorf("%d tries in vain:\n%s", n, out)
	}
	j.Agent = launchScript(t, `test $1 != 198.51.100.7 || { echo gone fishing >&2; exit 255; }; exec /bin/sh -c "$2"`)
	if r, out, err := sh(t, t.Context(), j, 7, `echo rank $PMI_RANK`); err != nil || r.Status != StatusHost || !strings.HasPrefix(r.Why, "198.51.100.7: ") || !strings.HasSuffix(r.Why, ": gone fishing") {
		t.Errorf("%+v, %v, %s", r, err, out)
	}
}
