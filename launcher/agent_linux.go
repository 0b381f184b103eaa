package launcher

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"
	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"
)

// agent starts the ranks of one host and looks after them, for a supervisor on
// another. When its standard input ends, or the supervisor is silent for too long,
// everything here is killed. Its loop owns all fields but streams.
type agent struct {
	session *mux
	said    chan toAgent // closed when the supervisor has gone
	spec    agentSpec
	bound   *binding
	parts   []part
	crew    *crew
	remotes map[int]*proxy // by rank
	log     *logrus.Logger
	home    string     // a folder for what was sent
	files   []string   // where those of the job are here
	got     chan error // the missing ones have come, or not

	answers *gob.Encoder

	killing  bool
	empty    bool
	starters sync.WaitGroup // of other agents

	mu      sync.Mutex
	streams map[streamKind]map[int]*yamux.Stream
	came    chan struct{} // closed, and made anew, when a stream comes
}

// agentInput and agentOutput are the descriptors of the connection.
const (
	agentInput  = 0
	agentOutput = 1
)

// agentMain is the process that has the ranks.
func agentMain(o agentOptions) int {
	runtime.LockOSThread() // the ranks die with this thread
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	_ = os.WriteFile("/proc/self/comm", []byte(agentName), 0)
	dropSignals()
	a := &agent{
		said: make(chan toAgent), remotes: map[int]*proxy{}, log: logrus.New(), home: o.home, got: make(chan error, 1),
		streams: map[streamKind]map[int]*yamux.Stream{}, came: make(chan struct{}),
	}
	a.crew = &crew{reaper: newReaper(), log: a.log}
	defer a.clean()
	conn, err := stdioConn()
	if err == nil {
		_, err = fmt.Fprintf(conn, "\n%s%s%s\n", markerLine, markerReady, agentVersion())
	}
	if err == nil {
		a.session, err = newMux(conn, false, o.patience, a.log)
	}
	if err == nil {
		err = a.listen()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "verbrun: agent:", err)
		return StatusInternal
	}
	a.loop()
	return 0
}

// dropSignals: what concerns ranks comes from the supervisor, and our end from the
// end of our input. Catching and dropping, not ignoring: that would be inherited.
func dropSignals() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE, syscall.SIGTSTP, DumpSignal)
}

// loop does what the supervisor says, and tells it what happens here, until it
// has gone. Then everything is killed.
func (a *agent) loop() {
	again := time.NewTicker(killAgain)
	defer again.Stop()
	none := a.crew.reaper.none
	for {
		var kill <-chan time.Time
		if a.killing && !a.empty {
			kill = again.C
		}
		select {
		case m, ok := <-a.said:
			if !ok {
				return
			}
			a.obey(m)
		case <-a.session.CloseChan():
			return
		case <-a.crew.reaper.ready:
			for _, b := range a.crew.reaper.take() {
				a.report(b, 0)
			}
		case err := <-a.got:
			a.answer(func() (fromAgent, error) {
				if err != nil {
					return fromAgent{}, err
				}
				return a.check()
			})
		case <-kill:
			a.crew.kill()
		case <-none:
			none, a.empty = nil, true
			for _, p := range a.remotes {
				p.cut()
			}
			a.say(fromAgent{Empty: true})
		}
	}
}

func (a *agent) obey(m toAgent) {
	switch {
	case m.Spec != nil:
		a.spec = *m.Spec
		if a.spec.Verbose {
			a.log.SetLevel(logrus.DebugLevel)
		}
		a.answer(a.prepare)
	case m.Start:
		a.answer(a.start)
	case m.Signal != nil:
		a.crew.signal(syscall.Signal(m.Signal.Signal), m.Signal.Groups, m.Signal.But)
	case m.Kill:
		a.killing = true
		a.crew.kill()
	case m.Look > 0:
		a.report(a.crew.reaper.look(), m.Look)
	case m.Dial != nil:
		a.dial(*m.Dial)
	}
}

// answer says what f has for an answer, or why there is none.
func (a *agent) answer(f func() (fromAgent, error)) {
	m, err := f()
	if err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			e = &Error{Status: StatusInternal, Err: err}
		}
		m = fromAgent{Refused: &agentRefusal{e.Status, e.Error()}}
	}
	a.say(m)
}

// say sends to the supervisor. If it has gone, the loop finds out.
func (a *agent) say(m fromAgent) { _ = a.answers.Encode(m) }

// report tells who has died.
func (a *agent) report(b batch, look int) {
	for i := range b.Exits {
		if p := a.remotes[b.Exits[i].Rank]; p != nil {
			p.ended(&b.Exits[i])
		}
	}
	a.say(fromAgent{Deaths: &agentDeaths{b, look}})
}

// clean is the end: nothing stays.
func (a *agent) clean() {
	a.crew.kill()
	if a.session != nil {
		_ = a.session.Close()
	}
	ended := make(chan struct{})
	go func() {
		a.starters.Wait() // their input has ended
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(dismissLimit / 2):
	}
	sweepOrphans()
	_ = os.RemoveAll(a.home)
}
