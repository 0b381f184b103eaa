package srq

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/verbena-mpi/verbena/verbs"
)

// Random senders, messages, releases, grants, stops, deaths and answers that are
// asked for: never are more credits and answers out than slots are posted, each
// sender that is not stopped can get its own, and in the end all slots are free.
func TestAccountModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &accountModel{}
		mode := rapid.SampledFrom([]Mode{Shared, PerPeer}).Draw(t, "mode")
		senders := rapid.IntRange(1, 5).Draw(t, "senders")
		if mode == PerPeer {
			senders = 1
		}
		c := Config{Mode: mode, Slots: rapid.IntRange(1, 40).Draw(t, "slots"), SlotSize: 100, Peers: senders}
		p, err := New(&fakeDevice{}, c)
		if err != nil {
			t.Fatal(err)
		}
		if m.q, err = p.Queue(); err != nil {
			t.Fatal(err)
		}
		m.posted = m.q.Slots()
		m.q.rq.(*fakeRQ).repost = func(n int) { m.posted += n }
		for range senders {
			s := &modelSender{a: new(Account), credits: c.Initial(senders)}
			m.q.Open(s.a, s.credits)
			m.senders = append(m.senders, s)
		}
		t.Repeat(map[string]func(*rapid.T){
			"send": m.send, "release": m.release, "grant": m.grant, "refused": m.refused, "stop": m.stop,
			"ask": m.ask, "answer": m.answer, "die": m.die, "": m.check,
		})
	})
}

type accountModel struct {
	q       *Queue
	senders []*modelSender
	posted  int // slots
	taken   int // slots that are not given back
	answers int // that are reserved
}

type modelSender struct {
	a       *Account
	credits int
	stopped bool
	dead    bool
}

func (m *accountModel) one(t *rapid.T) *modelSender {
	return rapid.SampledFrom(m.senders).Draw(t, "sender")
}

// send is a message that comes: with a slot or without.
func (m *accountModel) send(t *rapid.T) {
	s := m.one(t)
	if s.dead {
		return
	}
	took := rapid.Bool().Draw(t, "takes a slot") && m.posted > 0
	if took {
		m.posted--
		m.taken++
	}
	if ok := s.a.Used(took); ok != (s.credits > 0) {
		t.Fatalf("a message of a sender with %d credits: %v", s.credits, ok)
	}
	if s.credits == 0 { // it broke the protocol
		s.dead = true
		s.a.Close()
		return
	}
	s.credits--
}

func (m *accountModel) release(t *rapid.T) {
	if m.taken > 0 {
		m.taken--
		m.q.Release(verbs.Slot(1))
	}
}

func (m *accountModel) grant(t *rapid.T) {
	s := m.one(t)
	n := s.a.Grant(rapid.IntRange(0, 50).Draw(t, "most"))
	if n < 0 || n > 0 && (s.stopped || s.dead) {
		t.Fatalf("%d credits for %+v", n, s)
	}
	s.credits += n
}

// refused is a grant that could not be sent.
func (m *accountModel) refused(t *rapid.T) {
	s := m.one(t)
	s.a.Back(s.a.Grant(50))
}

func (m *accountModel) stop(t *rapid.T) {
	s := m.one(t)
	if s.dead {
		return
	}
	s.stopped = rapid.Bool().Draw(t, "stop")
	s.a.Stop(s.stopped)
}

func (m *accountModel) ask(t *rapid.T) {
	if m.q.Reserve() {
		m.answers++
	}
}

func (m *accountModel) answer(t *rapid.T) {
	if m.answers > 0 {
		m.answers--
		m.q.Unreserve()
	}
}

func (m *accountModel) die(t *rapid.T) {
	if s := m.one(t); !s.dead && rapid.IntRange(0, 9).Draw(t, "die") == 0 {
		s.dead, s.credits = true, 0
		s.a.Close()
	}
}

func (m *accountModel) check(t *rapid.T) {
	out := m.answers
	for _, s := range m.senders {
		out += s.credits
		if s.a.credits != s.credits {
			t.Fatalf("a sender has %d credits, and is believed to have %d", s.credits, s.a.credits)
		}
	}
	// Slots that wait in a batch are posted when somebody needs them.
	if out > m.posted {
		t.Fatalf("%d credits and answers are out, %d slots are posted, %d wait to be", out, m.posted, m.q.n)
	}
	for _, s := range m.senders {
		if !s.dead && !s.stopped && s.credits < ownCredits && m.taken == 0 {
			n := s.a.Grant(1)
			if n != 1 {
				t.Fatalf("a sender with %d credits gets none: %d free", s.credits, m.q.free)
			}
			s.a.Back(n)
		}
	}
}
