package launcher

import (
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/internal/hostlist"
	"github.com/verbena-mpi/verbena/internal/pmi"
)

// aliens is a supervisor with a host that has ranks 0 and 2, and one that has rank 1.
func aliens(t *testing.T) *supervisor {
	t.Helper()
	v := newSupervisor(spec{Plan: &plan{}})
	v.server = pmi.NewServer("verbrun-test", 3, pmiEvents{v})
	for i, ids := range [][]int{{0, 2}, {1}} {
		h := &host{Host: hostlist.Host{Name: "h" + string(rune('1'+i))}, orders: make(chan toAgent, orderRoom), begun: true, way: &way{stop: func() {}}}
		h.name = h.Name
		a, b := net.Pipe()
		t.Cleanup(func() { _ = b.Close() })
		h.way.conn = a
		for _, id := range ids {
			h.ranks = append(h.ranks, &rank{id: id, host: h, pid: 100 + id, link: &link{}, pmi: quiet{}})
		}
		v.hosts = append(v.hosts, h)
	}
	v.ranks = []*rank{v.hosts[0].ranks[0], v.hosts[1].ranks[0], v.hosts[0].ranks[1]}
	v.log.SetLevel(logrus.PanicLevel)
	return v
}

// quiet is a connection on which nothing is said.
type quiet struct{ net.Conn }

func (quiet) SetDeadline(time.Time) error { return nil }

// An agent that lies about its ranks is no agent: its host counts as lost. One that only
// names ranks that aren't there as dying isn't listened to.
func TestAgentLies(t *testing.T) {
	const killed = syscall.WaitStatus(9)
	for _, c := range []struct {
		name string
		lies batch
		lost bool
	}{
		{"the end of another host's rank", batch{Exits: []exit{{Rank: 1, Status: killed}}}, true},
		{"the end of a rank that doesn't exist", batch{Exits: []exit{{Rank: 77, Status: killed}}}, true},
		{"two ends of a rank", batch{Exits: []exit{{Rank: 2}, {Rank: 2}}}, true},
		{"ranks that die elsewhere", batch{Dying: []int{1, 77, -5}}, false},
		{"the end of something left behind", batch{Exits: []exit{{Rank: -1, Pid: 7, Status: killed}}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := aliens(t)
			h := v.hosts[0]
			v.heed(hostEvent{h: h, msg: fromAgent{Deaths: &agentDeaths{Batch: c.lies}}})
			if h.lost != c.lost || v.ranks[1].reaped || len(v.awaited) > 0 {
				t.Errorf("lost: %v, rank 1 is dead: %v, awaited: %v", h.lost, v.ranks[1].reaped, v.awaited)
			}
			if c.lost && (v.failure == nil || v.failure.status != StatusHost || !strings.Contains(v.failure.why, "host h1: its agent reports the end of rank ")) {
				t.Errorf("%+v", v.failure)
			}
		})
	}
}

// Which of two hosts was first nobody knows: all are asked, and the killed rank counts.
func TestLookAround(t *testing.T) {
	v := aliens(t)
	h1, h2 := v.hosts[0], v.hosts[1]
	v.heed(hostEvent{h: h2, msg: fromAgent{Deaths: &agentDeaths{Batch: batch{Exits: []exit{{Rank: 1, Status: 1 << 8}}}}}})
	for _, h := range v.hosts {
		if m := <-h.orders; m.Look != 1 {
			t.Errorf("%s was told %+v", h.name, m)
		}
	}
	if !v.looking() {
		t.Error("no answer is awaited")
	}
	v.heed(hostEvent{h: h2, msg: fromAgent{Deaths: &agentDeaths{Look: 1}}})
	if !v.looking() {
		t.Error("only one has answered")
	}
	v.heed(hostEvent{h: h1, msg: fromAgent{Deaths: &agentDeaths{Look: 1, Batch: batch{Exits: []exit{{Rank: 2, Status: 9}}}}}})
	if v.looking() || !v.overlap || len(v.dead) != 2 || v.rankCause(v.dead[1]) >= v.rankCause(v.dead[0]) {
		t.Errorf("looking: %v, overlap: %v, dead: %+v", v.looking(), v.overlap, v.dead)
	}
}

// A rank has left without a word, another gives up because of that, and the time for
// last words is over before anything is known of the first: it is blamed nevertheless.
func TestJudgeRest(t *testing.T) {
	v := aliens(t)
	h1 := v.hosts[0]
	v.following = true
	v.ranks[1].abort = &failure{rank: 1, status: 1, why: "gives up", follows: true}
	v.heed(hostEvent{h: h1, msg: fromAgent{Deaths: &agentDeaths{Batch: batch{Exits: []exit{{Rank: 2, Status: 3 << 8}}}}}})
	if v.following {
		t.Error("it is known whom rank 1 follows")
	}
	v.following = true
	v.judge()
	if v.failure != nil {
		t.Fatalf("judged early: %+v", v.failure)
	}
	v.judgeRest()
	if v.failure == nil || v.failure.rank != 2 || v.failure.status != 3 {
		t.Errorf("%+v", v.failure)
	}
}
