package tcp

import (
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs"
)

// queuePair makes one, with its queues, on a device of its own.
func queuePair(t *testing.T, c Config) (*Device, verbs.CQ, verbs.QP) {
	t.Helper()
	d, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	cq := must(d.NewCQ(64))(t)
	rq := must(d.NewRQ(verbs.RQConfig{Slots: 4, SlotSize: 1000}))(t)
	return d, cq, must(d.NewQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, RQ: rq}))(t)
}

// closedWith polls until the queue pair has ended, and says how.
func closedWith(t *testing.T, cq verbs.CQ) verbs.Status {
	t.Helper()
	var c [4]verbs.Completion
	for start := time.Now(); ; runtime.Gosched() {
		for _, one := range c[:cq.Poll(c[:])] {
			if one.Op == verbs.OpClosed {
				return one.Status
			}
		}
		if time.Since(start) > limit {
			t.Fatal("the queue pair doesn't end")
		}
	}
}

// A queue pair that finds nobody ends when the dial does, and the log has what was
// tried.
func TestNobodyAnswersIsLogged(t *testing.T) {
	for range 5 { // the two limits must not race
		var log lines
		_, cq, q := queuePair(t, Config{Secret: secret.New(), Net: "lo", Timeout: 200 * time.Millisecond, Log: log.logger()})
		silence := server(t, silent)
		peer := deviceAddr{id: deviceID{1}, host: thisHost(), port: silence.Port(), at: []place{{prefix: netip.PrefixFrom(silence.Addr(), 8)}}}
		if err := q.Connect(peer.encode(), 1, 2); err != nil {
			t.Fatal(err)
		}
		if n, err := q.PostSend(nil); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		if s := closedWith(t, cq); s != verbs.StatusRefused {
			t.Errorf("the queue pair ends with %v", s)
		}
		if log.count(silence.String()+": no answer in") != 1 {
			t.Errorf("the log doesn't say what was tried: %q", log.all)
		}
		if why := q.(verbs.Explainer).Why(); why == nil || !strings.Contains(why.Error(), silence.String()) {
			t.Errorf("the queue pair says %v, not what was tried", why)
		}
	}
}

// A peer that never says hello on the connection that was chosen is given up.
func TestNoHello(t *testing.T) {
	job := secret.New()
	_, cq, q := queuePair(t, Config{Secret: job, Net: "lo", Timeout: 200 * time.Millisecond})
	mute := opened(t, Config{Secret: job, Net: "lo"}, accepts)
	for labels := range 2 { // this end chooses, or the other one
		if labels == 1 {
			_, cq, q = queuePair(t, Config{Secret: job, Net: "lo", Timeout: 200 * time.Millisecond})
		}
		if err := q.Connect(mute.addr(), uint32(1+labels), uint32(2-labels)); err != nil {
			t.Fatal(err)
		}
		if _, err := q.PostSend(nil); err != nil {
			t.Fatal(err)
		}
		if s := closedWith(t, cq); s != verbs.StatusRefused {
			t.Errorf("the queue pair ends with %v", s)
		}
		mute.taken(t)
	}
}

// Of the connections of a peer that chooses none, a few are kept.
func TestManyCandidates(t *testing.T) {
	job := secret.New()
	d, cq, q := queuePair(t, Config{Secret: job, Net: "127.0.0.1", Timeout: time.Minute})
	liar := opened(t, Config{Secret: job, Net: "127.0.0.1", Timeout: time.Minute}, accepts)
	if err := q.Connect(liar.addr(), 2, 1); err != nil {
		t.Fatal(err)
	}
	var links []*link
	for range 50 {
		l, err := liar.dial(t.Context(), d.Addr(), 1, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.close() })
		links = append(links, &l)
	}
	start := time.Now()
	for open := len(links); open > maxCandidates; {
		if cq.Poll(make([]verbs.Completion, 4)) != 0 {
			t.Error("a completion")
		}
		open = 0
		for _, l := range links {
			if l.fd < 0 {
				continue
			}
			if _, err := l.read(make([]byte, 100)); err != nil {
				_ = l.close()
				continue
			}
			open++
		}
		if time.Since(start) > limit {
			t.Fatalf("%d connections are kept, expected %d", open, maxCandidates)
		}
	}
}
