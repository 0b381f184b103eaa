//go:build linux

package jobtest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const loadRanks = 8

// The load of the tests below ends well if it is let.
func TestLoad(t *testing.T) {
	for _, env := range []string{"", "VERBENA_RECV=peer", "VERBENA_READ=stream", "VERBENA_READ=copy", "GOMAXPROCS=1"} {
		t.Run(env, func(t *testing.T) {
			s := spec{n: loadRanks, env: []string{env}}
			j := s.start(t, "ranks", "load", "-windows", fmt.Sprint(rounds(20, 300)), "-seed", fmt.Sprint(seed(t)))
			if status := j.wait(); status != 0 || j.stdout.count("rank ") != loadRanks {
				t.Errorf("status %d", status)
			}
			t.Log(time.Since(j.started))
		})
	}
}

// While it works, no rank has anything open in /dev/shm or in TMPDIR, so that
// nothing can stay there.
func TestNoFiles(t *testing.T) {
	j := spec{n: loadRanks}.start(t, "ranks", "load", "-windows", "40")
	j.until("all ranks there", func() bool { return len(j.ranks()) == loadRanks })
	for looks := 0; !j.witness.over() && j.stdout.count("rank ") == 0; looks++ {
		for _, r := range j.ranks() {
			dir := fmt.Sprintf("/proc/%d", r.process.Pid)
			if uses(dir, sharedDir+"/") || uses(dir, j.tmp+"/") {
				t.Fatalf("rank %d uses a file", r.id)
			}
		}
	}
	if status := j.wait(); status != 0 {
		t.Errorf("status %d", status)
	}
}

// seed returns a new seed, and logs it.
func seed(t *testing.T) uint64 {
	s := uint64(time.Now().UnixNano())
	t.Logf("seed %d", s)
	return s
}

// blow is a load that is about to be struck.
type blow struct {
	*job
	rand *rand.Rand
}

// underLoad starts a load with settings of many kinds.
func underLoad(t *testing.T) *blow {
	t.Helper()
	n := seed(t)
	r := rand.New(rand.NewPCG(n, 0))
	pick := func(name string, values ...string) string { return name + "=" + values[r.IntN(len(values))] }
	s := spec{n: loadRanks, env: []string{
		pick("VERBENA_RECV", "srq", "peer"),
		pick("VERBENA_READ", "auto", "stream", "copy"),
		pick("GOMAXPROCS", "1", "2"),
	}}
	t.Log(s.env)
	return &blow{s.start(t, "ranks", "load", "-seed", fmt.Sprint(n)), r}
}

// strike waits for a random moment after a rank was seen, and does it. One in
// four is struck while the job still begins.
func (b *blow) strike(victim int, hit func(*rank) error) time.Time {
	b.t.Helper()
	var r *rank
	b.until("victim there", func() bool { r = b.find(victim); return r != nil })
	early := b.rand.IntN(4) == 0
	if !early {
		b.until("all ranks there", func() bool { return len(b.ranks()) == loadRanks })
	}
	most := 500 * time.Millisecond
	if early {
		most = 30 * time.Millisecond
	}
	delay := time.NewTimer(time.Duration(b.rand.Int64N(int64(most))))
	select {
	case <-delay.C:
	case <-b.witness.ended:
		b.t.Fatal("ended by itself")
	}
	at := time.Now()
	if err := hit(r); err != nil {
		b.t.Fatal(err)
	}
	return at
}

// A rank under load is killed.
func TestRankKilled(t *testing.T) {
	for i := range rounds(8, 50) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			b := underLoad(t)
			victim := b.rand.IntN(loadRanks)
			pid := 0
			at := b.strike(victim, func(r *rank) error { pid = r.process.Pid; return r.process.Kill() })
			b.reap()
			t.Logf("rank %d: all gone after %v", victim, b.gone(at))
			if status := b.cmd.ProcessState.ExitCode(); status != 128+int(syscall.SIGKILL) {
				t.Errorf("status %d", status)
			}
			b.blamed(fmt.Sprintf("verbrun: rank %d (pid %d) was killed by SIGKILL", victim, pid))
		})
		if t.Failed() {
			return
		}
	}
}

// lost is what the other ranks say, if they have the time to.
var lost = regexp.MustCompile(`^(request \d+: )?comm: rank \d+: .*: rank \d+ on \S+ is gone: `)

// blamed checks that the launcher gave one reason, and that nobody else said
// anything but that a rank is gone.
func (b *blow) blamed(want string) {
	b.t.Helper()
	reasons, others := 0, 0
	for _, line := range b.stderr.lines() {
		switch {
		case line == want:
			reasons++
		case lost.MatchString(line):
			others++
		default:
			b.t.Errorf("unexpected: %s", line)
		}
	}
	if reasons != 1 {
		b.t.Errorf("not there once: %s", want)
	}
	if !strings.HasSuffix(b.stderr.String(), want+"\n") {
		b.t.Error("the reason doesn't come last")
	}
	b.t.Logf("%d other ranks said something", others)
}

// The launcher of a load is killed.
func TestLauncherKilled(t *testing.T) {
	for i := range rounds(5, 20) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			b := underLoad(t)
			at := b.strike(b.rand.IntN(loadRanks), func(*rank) error { return b.cmd.Process.Kill() })
			b.reap()
			t.Logf("all gone after %v", b.gone(at))
		})
		if t.Failed() {
			return
		}
	}
}
