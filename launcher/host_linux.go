package launcher

import (
	"bufio"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/verbena-mpi/verbena/internal/hostlist"
)

// host is another host of the job: an agent there starts the ranks, and passes on
// what they say.
type host struct {
	hostlist.Host
	name   string // for messages
	ranks  []*rank
	parent *host // whose agent starts this one; nil: we do

	orders chan toAgent // room for all that a job may need
	where  []string     // on which cores each rank will be

	mu      sync.Mutex
	way     *way         // to the agent; set before connect is called
	session *mux         // set once
	calls   map[int]*way // to hosts that this one's agent starts, by number
	hungUp  bool

	// Of the supervisor's loop.
	up     bool // the agent has its orders
	begun  bool // the ranks were started
	empty  bool // no process of the job is left there
	lost   bool
	killed bool // it was told to kill
	looked int  // the last question that it has answered
}

// hostEvent is what an agent says, or that there is none any more.
type hostEvent struct {
	h   *host
	msg fromAgent
	err error
}

// Limits of what agents are waited for.
const (
	checkLimit = 30 * time.Second // for its looking at programs and folders
	sendLimit  = 5 * time.Minute  // for a copy of this program
	startLimit = 60 * time.Second // for starting the ranks of a host
	orderRoom  = 1024
)

// connect makes the session with a new agent, and says what there is to do. Then it
// passes on what the agent says, until that has gone.
func (v *supervisor) connect(h *host, spec *agentSpec) {
	msgs, err := v.greet(h, spec)
	if err != nil {
		v.hostSays(hostEvent{h: h, err: err})
		return
	}
	go func() { // so that nobody waits for an agent that doesn't read
		enc := gob.NewEncoder(msgs)
		for {
			select {
			case m := <-h.orders:
				if enc.Encode(m) != nil {
					_ = h.session.Close()
					return
				}
			case <-h.session.CloseChan():
				return
			}
		}
	}()
	dec := gob.NewDecoder(bufio.NewReader(msgs))
	for {
		var m fromAgent
		if err := dec.Decode(&m); err != nil {
			_ = h.session.Close()
			v.hostSays(hostEvent{h: h, err: v.gone(h)})
			return
		}
		if m.Ended != nil {
			h.mu.Lock()
			if w := h.calls[m.Ended.ID]; w != nil {
				w.ended <- syscall.WaitStatus(m.Ended.Status)
				delete(h.calls, m.Ended.ID)
			}
			h.mu.Unlock()
			continue
		}
		v.hostSays(hostEvent{h: h, msg: m})
	}
}

func (v *supervisor) hostSays(e hostEvent) {
	select {
	case v.agents <- e:
	case <-v.done:
	}
}

// greet brings a new agent to where it has its orders and the streams of its ranks.
func (v *supervisor) greet(h *host, spec *agentSpec) (msgs *yamux.Stream, err error) {
	in := bufio.NewReader(h.way.conn)
	late := time.AfterFunc(v.spec.AgentLimit, func() { _ = h.way.conn.Close() })
	defer late.Stop()
	said, skipped, err := readMarker(in)
	if len(skipped) > 1 {
		v.log.Debugf("%s: before the agent: %q", h.name, skipped)
	}
	if !late.Stop() {
		return nil, fail(StatusHost, "%s: no answer from the agent within %v: is verbrun at %s there?%s", h.name, v.spec.AgentLimit, v.spec.Self, h.way.words.last())
	}
	if err == nil && said == markerSend {
		said, err = v.sendSelf(h, in)
	}
	if err != nil {
		return nil, v.unreached(h, err, skipped)
	}
	if err := v.checkMarker(h, said); err != nil {
		return nil, err
	}
	session, err := newMux(&buffered{in, h.way.conn}, true, v.spec.patience(), v.log)
	if err != nil {
		return nil, fail(StatusInternal, "%s: %w", h.name, err)
	}
	h.has(func() { h.session = session })
	if msgs, err = h.session.OpenStream(); err == nil {
		h.orders <- toAgent{Spec: spec}
		err = v.openStreams(h, spec)
	}
	if err != nil {
		_ = h.session.Close()
		return nil, v.gone(h)
	}
	return msgs, nil
}

// sendSelf sends this program to a shell that has asked for it, and reads what its
// agent says then.
func (v *supervisor) sendSelf(h *host, in *bufio.Reader) (said string, err error) {
	late := time.AfterFunc(sendLimit, func() { _ = h.way.conn.Close() })
	defer late.Stop()
	f, err := os.Open(v.self.Path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	v.log.Debugf("%s: sending a copy of verbrun", h.name)
	_, werr := io.Copy(struct{ io.Writer }{h.way.conn}, f)
	said, _, err = readMarker(in)
	if err != nil {
		err = errors.Join(err, werr)
	}
	return said, err
}

// openStreams opens those of the ranks.
func (v *supervisor) openStreams(h *host, spec *agentSpec) error {
	for i, r := range h.ranks {
		open := func(kind streamKind) (s *yamux.Stream, err error) { return openStream(h.session, kind, r.id) }
		out, err1 := open(streamOut)
		errs, err2 := open(streamErr)
		pmi, err3 := open(streamPMI)
		ctl, err4 := open(streamControl)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
		r.out.f, r.err.f, r.pmi = remoteStream{out}, remoteStream{errs}, remoteStream{pmi}
		r.link = newRemoteLink(remoteStream{ctl})
		if !spec.Ranks[i].Input {
			continue
		}
		in, err := open(streamIn)
		if err != nil {
			return err
		}
		r.in = newRemoteInput(in)
	}
	return nil
}

// order says something to an agent, unless it has gone.
func (h *host) order(m toAgent) {
	select {
	case h.orders <- m:
	default: // it doesn't read: it is as good as gone
		h.hangUp()
	}
}

// hangUp ends the connection to the agent, if there is one.
func (h *host) hangUp() {
	h.mu.Lock()
	session, way := h.session, h.way
	h.hungUp = true
	h.mu.Unlock()
	switch {
	case session != nil:
		_ = session.Close()
	case way != nil:
		_ = way.conn.Close()
	}
}

// setWay is called before connect.
func (h *host) setWay(w *way) { h.has(func() { h.way = w }) }

// has notes a part of the connection, which ends at once if hangUp was called meanwhile.
func (h *host) has(note func()) {
	h.mu.Lock()
	note()
	hungUp := h.hungUp
	h.mu.Unlock()
	if hungUp {
		h.hangUp()
	}
}
