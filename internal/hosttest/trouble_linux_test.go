package hosttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/testbed"
)

// peerTimeout is what jobs in trouble have as VERBENA_PEER_TIMEOUT. What is
// heard may come later by slack, on a machine that does much else.
const (
	peerTimeout = 2 * time.Second
	slack       = 4 * time.Second
)

// trouble is what happens to a running job of three hosts with a rank each.
type trouble struct {
	name  string
	needs []string
	begin func(j *job)
	// hear are ranks of whom one must hear that it has lost one of lost, for each
	// pair of lists.
	hear [][2][]int
}

var troubles = []trouble{
	{name: "a rank is killed", begin: func(j *job) { j.kill(2) }, hear: [][2][]int{{{0, 1}, {2}}}},
	{name: "a cable is cut", begin: func(j *job) { j.b.Cut(2) }, hear: [][2][]int{{{0, 1}, {2}}, {{2}, {0, 1}}}},
	{name: "a host is killed", begin: func(j *job) { j.b.Kill(2) }, hear: [][2][]int{{{0, 1}, {2}}}},
	{name: "a host loses power", begin: func(j *job) { j.b.Cut(2); j.b.Kill(2) }, hear: [][2][]int{{{0, 1}, {2}}}},
	{name: "two hosts are parted", needs: []string{"nft"}, begin: func(j *job) { j.b.Partition(1, 2) }, hear: [][2][]int{{{1}, {2}}, {{2}, {1}}}},
	{name: "a connection is reset", needs: []string{"nft"}, begin: func(j *job) { j.b.Reset(1, 2) }, hear: [][2][]int{{{1}, {2}}, {{2}, {1}}}},
}

// kill kills the program of a job on a host.
func (j *job) kill(host int) {
	j.t.Helper()
	running := j.running(host, "ranks")
	if len(running) == 0 {
		j.t.Fatal("nothing to kill")
	}
	for _, p := range running {
		if err := syscall.Kill(p.Pid, syscall.SIGKILL); err != nil {
			j.t.Error(err)
		}
	}
}

// words are what ranks say in files.
type words struct {
	t     *testing.T
	dir   string
	ranks int
}

// all says whether every rank has said it.
func (w words) all(what string) bool {
	names, err := filepath.Glob(filepath.Join(w.dir, "*."+what))
	if err != nil {
		w.t.Fatal(err)
	}
	return len(names) == w.ranks
}

// errors are what ranks have failed with, and when.
func (w words) error(rank int) (text string, at time.Time) {
	w.t.Helper()
	name := filepath.Join(w.dir, strconv.Itoa(rank)+".error")
	info, err := os.Stat(name)
	if os.IsNotExist(err) {
		return "", time.Time{}
	}
	b, bad := os.ReadFile(name)
	if err != nil || bad != nil {
		w.t.Fatal(err, bad)
	}
	return string(b), info.ModTime()
}

var lost = regexp.MustCompile(`rank (\d+) on h(\d+) is gone`)

// heard says whether one of the ranks has lost one of the others, in time; else
// what they have said.
func (w words) heard(begun time.Time, ranks, others []int) (ok bool, said []string) {
	w.t.Helper()
	for _, rank := range ranks {
		text, at := w.error(rank)
		if text == "" {
			continue
		}
		said = append(said, fmt.Sprintf("rank %d, after %v: %q", rank, at.Sub(begun), text))
		m := lost.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if other, _ := strconv.Atoi(m[1]); slices.Contains(others, other) && at.Before(begun.Add(peerTimeout+slack)) {
			return true, nil
		}
	}
	return false, said
}

// undergo starts a job and has it meet a trouble. Each side hears in time whom it
// has lost, or its launcher was faster and has ended it; and the job ends.
func (tr trouble) undergo(t *testing.T, w way, s shape) {
	t.Helper()
	testbed.Need(t, tr.needs...)
	b := lab(t, s.hosts, w.needs...)
	said := words{t, t.TempDir(), s.ranks()}
	j := w.start(t, b, s, []string{"VERBENA_PEER_TIMEOUT=" + peerTimeout.String()}, "ranks", "exchange", "-dir", said.dir)
	j.until("all ranks run", func() bool { return said.all("running") })
	begun := time.Now()
	tr.begin(j)
	over := j.ranksOver(begun)
	if w.hangs { // in silence, where its own connections have no limit
		time.AfterFunc(2*time.Second, func() { j.signal(syscall.SIGKILL) })
	}
	status := j.wait()
	t.Logf("ranks ended after %v, the job after %v, with status %d", over, time.Since(begun), status)
	if status == 0 {
		t.Error("status 0")
	}
	for _, h := range tr.hear {
		ok, words := said.heard(begun, h[0], h[1])
		if !ok && (!w.kills || over > peerTimeout+slack || words != nil) {
			t.Errorf("none of ranks %v names one of %v in time: %q", h[0], h[1], words)
		}
	}
	if w.names && !regexp.MustCompile(`(?m)^verbrun: .*(rank \d+|host h\d)`).MatchString(j.stderr()) {
		t.Error("verbrun names nobody")
	}
}

// ranksOver waits for the end of all ranks, which may be before their launcher's
// and after it, and says how long it took.
func (j *job) ranksOver(begun time.Time) (took time.Duration) {
	j.t.Helper()
	testbed.Await(j.t, "the end of all ranks", usual, func() error {
		n := 0
		for host := range j.b.Hosts() {
			n += len(j.running(host, "ranks"))
		}
		if took = time.Since(begun); n > 0 {
			return fmt.Errorf("%d ranks are there", n)
		}
		return nil
	})
	return took
}

// A job in trouble ends, with an error that says whom it has lost. The launchers
// that have their own ideas meet two troubles only, unless there is time.
func TestTrouble(t *testing.T) {
	for _, w := range append(slices.Clone(ways), also...) {
		if w.alone || w.slow && !*long || w.name == "hostfile" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			for i, tr := range troubles {
				if i > 1 && w.kills && !w.names && !*long {
					break
				}
				t.Run(tr.name, func(t *testing.T) { tr.undergo(t, w, shape{3, 1}) })
			}
		})
	}
}

// also are ways that matter for what happens in trouble alone.
var also = []way{
	{name: "srun -K", needs: []string{"slurm"}, line: "srun -K --mpi=pmi2 -N{hosts} --ntasks-per-node={each} ./program", kills: true},
}

// Ranks of one host stay together, and hear of the others.
func TestMixedTrouble(t *testing.T) {
	trouble{begin: func(j *job) { j.b.Cut(1) }, hear: [][2][]int{{{0}, {2, 3}}, {{1}, {2, 3}}, {{2}, {0, 1}}, {{3}, {0, 1}}}}.
		undergo(t, find("plain processes"), shape{2, 2})
}

// What is lost on the way is sent again, and all is right.
func TestLoss(t *testing.T) {
	testbed.Need(t, "nft")
	w := find("plain processes")
	b := lab(t, 3, w.needs...)
	b.Loss(1, 5)
	rounds := "100"
	if *long {
		rounds = "2000"
	}
	j := w.start(t, b, shape{3, 1}, nil, "ranks", "exchange", "-dir", t.TempDir(), "-rounds", rounds, "-length", "20000")
	if status := j.wait(); status != 0 || strings.Count(j.stdout(), "exchanged\n") != 3 {
		t.Errorf("status %d", status)
	}
}

// With --continuous a job goes on without those whose host was killed; its status
// tells of them.
func TestContinuous(t *testing.T) {
	b := lab(t, 3, "sshd")
	cmd := b.Command(0, "verbrun", "--continuous", "--host", "h0:2,h1:2,h2:1", filepath.Join(bin, "ranks"), "survive", "wait")
	cmd.Env = environ()
	j := begin(t, b, []*exec.Cmd{cmd})
	j.until("the last rank waits", func() bool { return strings.Contains(j.stdout(), "waiting\n") })
	b.Kill(2)
	if status := j.wait(); status == 0 || strings.Count(j.stdout(), "survived\n") != 4 {
		t.Errorf("status %d", status)
	}
}
