package verbstest

import (
	"math/rand/v2"
	"testing"

	"github.com/verbena-mpi/verbena/verbs"
)

var modelTests = []test{
	{"Model", testModel},
	{"ModelClose", testModelClose},
}

// model makes a random schedule of everything at once. What must come out is
// known beforehand: each end's plan is what its peer receives, and each source
// is what a read of it brings. The ends check it as it comes.
type model struct {
	*rig
	rng   *rand.Rand
	ends  []*end
	reads []*modelRead
	srcs  [][]*source // by side
	acts  int
}

// modelRead is a read in flight.
type modelRead struct {
	tg      *target
	src     *source
	off     int
	aborted bool
}

func newModel(t *testing.T, h Harness) *model {
	t.Helper()
	rng := newRand(h.seeds.next())
	sh := shape{
		depth:   1 + rng.IntN(20),
		inline:  rng.IntN(200),
		slots:   2 + rng.IntN(30),
		perPeer: rng.IntN(2) == 0,
	}
	sh.slotSize = 64 << rng.IntN(8)
	sh.low = rng.IntN(sh.slots)
	sides := 2 + rng.IntN(2)
	m := &model{rig: newRig(t, h, sides, sh), rng: rng}
	for i := range sides {
		m.srcs = append(m.srcs, []*source{m.newSource(i, 1000), m.newSource(i, 300_000)})
		for j := range i {
			for range 1 + rng.IntN(2) {
				a, b := m.connect(i, j)
				m.ends = append(m.ends, a, b)
			}
		}
	}
	return m
}

func (m *model) end() *end { return m.ends[m.rng.IntN(len(m.ends))] }

func (m *model) anySide() *side { return m.sides[m.rng.IntN(len(m.sides))] }

// act does one thing at random.
func (m *model) act() {
	m.acts++
	switch m.rng.IntN(16) {
	case 0, 1, 2:
		e := m.end()
		for range m.rng.IntN(6) {
			e.plan(randomSpec(m.rng, e))
		}
		m.check(e.post(e.posted + m.rng.IntN(8)))
	case 3:
		e := m.end()
		m.check(e.post(len(e.out)))
	case 4, 5, 6, 7, 8:
		s := m.anySide()
		s.batch = 1 + m.rng.IntN(20)
		m.check(s.poll())
	case 9:
		for range m.rng.IntN(20) {
			m.step()
		}
	case 10:
		s := m.anySide()
		s.hold = !s.hold
	case 11, 12:
		m.releaseOne(m.anySide())
	case 13:
		m.startRead()
	case 14:
		m.abortOne()
	case 15:
		s := m.anySide()
		ev := verbs.Event(m.rng.IntN(3))
		s.rcq.Arm(ev)
		s.scq.Arm(ev)
	}
	m.step()
	m.finishReads()
}

func (m *model) releaseOne(s *side) {
	if len(s.held) == 0 {
		return
	}
	at := m.rng.IntN(len(s.held))
	msg := s.held[at]
	s.held = append(s.held[:at], s.held[at+1:]...)
	m.check(s.release(msg))
}

func (m *model) startRead() {
	e := m.end()
	at := 0
	for i, s := range m.sides {
		if s == e.peer.side {
			at = i
		}
	}
	src := m.srcs[at][m.rng.IntN(2)]
	n := 1 + m.rng.IntN(len(src.mem))
	r := &modelRead{src: src, off: m.rng.IntN(len(src.mem) - n + 1)}
	r.tg = m.newTarget(e, n, m.rng.IntN(70))
	if r.tg.try(src.at(r.off)) == nil {
		m.reads = append(m.reads, r)
	}
}

func (m *model) abortOne() {
	if len(m.reads) == 0 {
		return
	}
	r := m.reads[m.rng.IntN(len(m.reads))]
	r.aborted = true
	r.tg.end.abort(r.tg.id)
}

// finishReads checks the reads that are complete.
func (m *model) finishReads() {
	open := m.reads[:0]
	for _, r := range m.reads {
		switch {
		case !r.tg.done():
			open = append(open, r)
		case r.aborted && r.tg.status() == verbs.StatusAborted:
			m.check(r.tg.guards())
		case r.tg.status() == verbs.StatusOK:
			m.arrived(r.tg, r.src, r.off)
		}
	}
	m.reads = open
}

// settleDown lets everything that is under way come to its end.
func (m *model) settleDown() {
	for _, s := range m.sides {
		s.hold, s.batch = false, 16
		m.check(s.releaseAll())
	}
	m.exchange(m.ends...)
	m.until("the reads", func() bool { m.finishReads(); return len(m.reads) == 0 })
}

// modelRounds and modelActs are how many schedules there are, and how long one
// is.
func modelRounds() int {
	if testing.Short() {
		return 4
	}
	return 12
}

const modelActs = 1500

func testModel(t *testing.T, h Harness) {
	for range modelRounds() {
		m := newModel(t, h)
		for range 3 {
			for range modelActs / 3 {
				m.act()
			}
			m.settleDown()
		}
	}
}

// The schedule ends with one side's leaving.
func testModelClose(t *testing.T, h Harness) {
	for round := range modelRounds() {
		m := newModel(t, h)
		for i := 0; i < len(m.ends); i += 2 {
			m.ping(m.ends[i], m.ends[i+1])
		}
		for range m.rng.IntN(modelActs) {
			m.act()
		}
		for _, e := range m.ends {
			e.tolerant = true
		}
		gone := m.sides[0]
		for _, s := range m.sides {
			s.hold, s.batch = false, 16
			m.check(s.releaseAll())
		}
		left := append([]*end(nil), gone.ends...)
		leave(m.rig, left[0], round%2 == 0)
		for _, e := range left {
			if round%2 == 0 || e == left[0] {
				expectClosed(m.rig, e.peer, verbs.StatusPeerClosed)
			}
		}
	}
}
