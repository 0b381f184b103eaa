package launcher

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/pmi"
)

// Limits of the end of a job.
const (
	termGrace = time.Second            // from TERM to KILL
	killGrace = 2 * time.Second        // from KILL to giving up
	killAgain = 10 * time.Millisecond  // between rounds of KILL
	restGrace = 500 * time.Millisecond // for what ranks that went well left behind
	// Output that is unread when the ranks have gone is waited for, but not
	// for long if somebody has just asked for the job's end.
	askedLately = 5 * time.Second
	unreadGrace = time.Second

	dieGrace = 100 * time.Millisecond // for a rank that has begun to die
	pmiGrace = 100 * time.Millisecond // for the last words of a rank whose connection somebody else holds
)

// The supervisor is this same program, started again under another name.
func init() {
	if os.Args[0] == supervisorName {
		os.Exit(superviseMain())
	}
}

func superviseMain() int {
	runtime.LockOSThread() // the ranks die with this thread
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	_ = os.WriteFile("/proc/self/comm", []byte(supervisorName), 0)
	// A terminal signals the whole foreground group, and the front passes on
	// what concerns the ranks. Catching and dropping, not ignoring: that would
	// be inherited.
	signal.Notify(make(chan os.Signal, 1), append(ForwardedSignals(), syscall.SIGPIPE)...)
	conn, err := polled(supervisorFD, "front")
	if err != nil {
		fmt.Fprintln(os.Stderr, "verbrun: supervisor:", err)
		return StatusInternal
	}
	unix.CloseOnExec(supervisorFD)
	dec := gob.NewDecoder(conn)
	var s spec
	if err := dec.Decode(&s); err != nil {
		return StatusInternal // the front has gone
	}
	if len(s.Plan.remote()) > 0 {
		// Control-Z stops the front. We go on: other hosts would take us for dead.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTSTP)
	}
	v := newSupervisor(s)
	v.crew.realtime = outrank()
	r := v.run(dec)
	_ = gob.NewEncoder(conn).Encode(r)
	return r.Status
}

// supervisor runs one job. Its loop owns all fields.
type supervisor struct {
	spec   spec
	log    *logrus.Logger
	stdout *sink
	stderr *sink
	files  []*sink // of ranks' output

	name   string // of the job
	ranks  []*rank
	crew   *crew // those of this host
	hosts  []*host
	server *pmi.Server
	done   chan struct{} // closed when the loop has ended

	orders    chan order // closed when the front has gone
	pmi       chan pmiEvent
	links     chan linkEvent
	agents    chan hostEvent
	early     []hostEvent // before all ranks had been started
	vacant    bool        // no process of the job is left on this host
	look      int         // the number of the last question to all hosts
	taken     int64       // by rank 0, on another host, of our standard input; -1: not known
	self      sentFile    // this program, if it is sent to hosts that lack it
	sent      []sentFile  // others
	preloaded string      // the folder with those that the user has named, or ""
	read      int64       // of our standard input; the feeding goroutine's until fed is closed
	fed       chan struct{}
	copying   sync.WaitGroup
	copied    chan struct{} // closed when all streams have ended

	prompts bool // somebody types, and sees the output

	phase     phase
	deadline  *time.Timer // of the phase
	dead      []exit      // of ranks not judged yet
	awaited   []*rank     // about to die, and perhaps before those
	patience  *time.Timer // with awaited, and the answers of hosts, and what was before a follower
	following bool        // a rank has called abort because of another, of which nothing is known
	overlap   bool        // some died while others were dying
	judged    int
	ints      int            // interrupts so far
	asked     syscall.Signal // the last that means the job's end
	askedAt   time.Time
	failure   *failure
	died      *failure          // the first rank that did, in a job that goes on
	exits     []control.Message // of ranks so far
	news      *time.Timer       // with exits that ranks have not been told
	newsDue   bool
	reports   sync.WaitGroup // what is being printed meanwhile
	dumps     chan struct{}  // somebody asks where the ranks are
	round     *round         // the question that the ranks are answering, or nil
	roundNo   uint64
	roundEnd  *time.Timer
	deadlock  *traffic // of the one that was reported last
	hurry     bool     // nobody is left who would read the output
}

// phase is how far the job is. It only grows.
type phase int

const (
	running phase = iota
	resting       // all ranks are gone and went well; waiting for what they left
	ending        // TERM was sent
	killing       // KILL was sent, and is sent again to what turns up
	leaving       // no process is left, or none that can be killed; the streams were cut
)

// failure is why the job ends early.
type failure struct {
	rank   int
	status int
	why    string
	leaves bool // the rank is about to exit by itself
	said   bool // why was printed already

	follows bool // the rank has called abort because another has ended
}

func newSupervisor(s spec) *supervisor {
	v := &supervisor{
		spec: s, taken: -1, fed: make(chan struct{}), done: make(chan struct{}),
		orders: make(chan order), pmi: make(chan pmiEvent), links: make(chan linkEvent), agents: make(chan hostEvent), copied: make(chan struct{}),
		log: logrus.New(), deadline: time.NewTimer(time.Hour), patience: time.NewTimer(time.Hour), news: time.NewTimer(time.Hour),
		roundEnd: time.NewTimer(time.Hour), dumps: make(chan struct{}, 1),
	}
	v.deadline.Stop()
	v.patience.Stop()
	v.news.Stop()
	v.roundEnd.Stop()
	v.stdout, v.stderr = newSinks(os.Stdout, os.Stderr)
	v.stdout.stamp, v.stderr.stamp = s.Output.Stamp, s.Output.Stamp
	v.log.SetOutput(v.stderr)
	v.crew = &crew{reaper: newReaper(), log: v.log}
	if s.Verbose {
		v.log.SetLevel(logrus.DebugLevel)
	}
	return v
}

func (v *supervisor) run(dec *gob.Decoder) Result {
	defer close(v.done)
	go v.listen(dec)
	if v.spec.TempDir != "" {
		defer func() { _ = os.RemoveAll(v.spec.TempDir) }()
		if err := v.fillTempDir(); err != nil {
			sweepOrphans() // or they would write into the folder while it is removed
			return v.refuse(err)
		}
	}
	if err := v.start(); err != nil {
		v.killAll()
		v.dismiss()
		sweepOrphans()
		return v.refuse(err)
	}
	v.loop()
	v.dismiss()
	v.giveBack()
	return v.result()
}

// fillTempDir makes the job's temporary folder, and builds what is to be built.
func (v *supervisor) fillTempDir() error {
	if err := os.Mkdir(v.spec.TempDir, 0o700); err != nil {
		return fail(StatusInternal, "%w", err)
	}
	if v.spec.builds() {
		return v.build()
	}
	return nil
}

// listen turns what the front says into orders.
func (v *supervisor) listen(dec *gob.Decoder) {
	defer close(v.orders)
	for {
		var o order
		if err := dec.Decode(&o); err != nil {
			if !errors.Is(err, io.EOF) {
				v.log.WithError(err).Debug("the front has gone")
			}
			return
		}
		if o.Signal == int(DumpSignal) {
			select {
			case v.dumps <- struct{}{}:
			default: // one is as good as two
			}
			continue
		}
		select {
		case v.orders <- o:
		case <-v.done:
			return
		}
	}
}

// refuse is the result of a job whose ranks couldn't be started.
func (v *supervisor) refuse(err error) Result {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Status: StatusInternal, Err: err}
	}
	if e.Err != nil {
		fmt.Fprintf(v.stderr, "verbrun: %v\n", e.Err)
		return Result{Status: e.Status, Why: e.Err.Error(), Rank: -1}
	}
	return Result{Status: e.Status, Rank: -1}
}

// say prints one line. In a hurry it doesn't wait until somebody reads it.
func (v *supervisor) say(line string) {
	v.put(func() { fmt.Fprintf(v.stderr, "verbrun: %s\n", line) })
}

// put calls f, which prints something, with the patience of say.
func (v *supervisor) put(f func()) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		f()
	}()
	var limit <-chan time.Time
	if v.hurry {
		limit = time.After(restGrace)
	}
	for {
		select {
		case <-said:
			return
		case <-limit:
			return
		case o, ok := <-v.orders:
			if !ok || o.Cancel || o.Signal == int(syscall.SIGINT) || o.Signal == int(syscall.SIGTERM) {
				return // nor for ever
			}
		}
	}
}

func (v *supervisor) result() Result {
	v.put(v.reports.Wait)
	if v.failure == nil {
		v.failure = v.died
	}
	v.explain()
	for _, f := range v.files {
		f.closeFile()
	}
	for _, s := range append([]*sink{v.stdout, v.stderr}, v.files...) {
		if v.failure != nil {
			break
		}
		if err := s.failed(); err != nil {
			v.failure = &failure{rank: -1, status: StatusInternal, why: fmt.Sprintf("output was lost: %v", err)}
		}
	}
	if v.failure == nil {
		return Result{Rank: -1}
	}
	if v.failure.why != "" && !v.failure.said {
		v.say(v.failure.why)
	}
	return Result{Status: v.failure.status, Why: v.failure.why, Rank: v.failure.rank}
}
