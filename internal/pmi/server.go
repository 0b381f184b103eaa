package pmi

import (
	"errors"
	"io"
	"sync"
	"time"
)

// Events are what a server tells its launcher. They are called from the
// serving goroutines, one at a time per rank, without the server's lock.
type Events interface {
	// Abort: a rank asks for the job's end.
	Abort(rank, code int, why string)
	// Stuck: a rank waits in a barrier that another can't enter any more,
	// having finished or exited.
	Stuck(waiting, missing int)
}

// Follower is for Events that blame the rank that was first.
type Follower interface {
	// Follow: a rank asks for the job's end, because of another's.
	Follow(rank, code int, why string)
}

// Server answers the ranks of one job.
type Server struct {
	name   string
	size   int
	events Events

	mu      sync.Mutex
	ranks   []rankState
	kvs     map[string]string
	barrier *barrier
	broken  string // why no barrier will succeed any more
}

// rankState is guarded by Server.mu.
type rankState struct {
	joined    bool // init was answered
	waiting   bool // in the barrier
	finalized bool
	exited    bool // its process has ended
	stored    int  // bytes put
	app       int  // set before Serve
}

// writeTimeout bounds an answer to a rank that doesn't read.
const writeTimeout = 10 * time.Second

// maxStored bounds what one rank may put.
const maxStored = 64 << 20

// NewServer makes the server of a job of size ranks, on one host unless SetHosts
// says otherwise. The name is the job's key-value space.
func NewServer(name string, size int, events Events) *Server {
	return &Server{
		name: name, size: size, events: events,
		ranks:   make([]rankState, size),
		kvs:     map[string]string{mappingKey: mapping(make([]int, size))},
		barrier: &barrier{done: make(chan struct{})},
	}
}

// SetHosts says on which host each rank is; they are counted from 0. It is called
// before Serve.
func (s *Server) SetHosts(hosts []int) {
	delete(s.kvs, mappingKey)
	if m := mapping(hosts); m != "" {
		s.kvs[mappingKey] = m
	}
}

// SetApp says which of the job's programs a rank runs, counted from 0. It is
// called before Serve.
func (s *Server) SetApp(rank, app int) { s.ranks[rank].app = app }

// Serve answers one rank until its connection ends, and closes the connection.
// The error says what the rank did wrong, if anything, and the rank is told
// too; ending without finalize is not judged here (see Joined).
func (s *Server) Serve(rank int, conn Conn) error {
	x := &session{s: s, rank: rank, conn: conn, lines: newLineReader(conn), quit: make(chan struct{})}
	err := x.serve()
	if err != nil {
		_ = x.answer(Msg("error", "rc", "-1", "msg", EscapeText(err.Error(), MaxValue)))
	}
	close(x.quit)
	_ = conn.Close()
	x.pending.Wait()
	return err
}

func (x *session) serve() error {
	for {
		line, err := x.lines.next()
		switch {
		case err == nil:
		case errors.Is(err, ErrMalformed), errors.Is(err, ErrTooLong):
			return err
		case errors.Is(err, io.EOF):
			return nil
		default:
			return nil // reset or closed: the process ended with answers unread
		}
		m, err := Parse(line)
		if err != nil {
			return err
		}
		more, err := x.handle(m)
		if err != nil || !more {
			return err
		}
		if !x.lines.more() {
			if err := x.flush(); err != nil {
				return err
			}
		}
	}
}

// Exited tells the server that a rank's process has ended.
func (s *Server) Exited(rank int) {
	s.mu.Lock()
	s.ranks[rank].exited = true
	s.mu.Unlock()
	s.checkStuck()
}

// Joined says whether a rank has called init, and whether it finalized after.
func (s *Server) Joined(rank int) (joined, finalized bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ranks[rank].joined, s.ranks[rank].finalized
}

// checkStuck looks for a barrier that can't complete any more.
func (s *Server) checkStuck() {
	waiting, missing := -1, -1
	s.mu.Lock()
	for r := range s.ranks {
		if s.ranks[r].waiting && waiting < 0 {
			waiting = r
		}
		if (s.ranks[r].finalized || s.ranks[r].exited) && !s.ranks[r].waiting && missing < 0 {
			missing = r
		}
	}
	s.mu.Unlock()
	if waiting >= 0 && missing >= 0 {
		s.events.Stuck(waiting, missing)
	}
}
