package pmi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// session is the server's side of one connection.
type session struct {
	s       *Server
	rank    int
	conn    Conn
	lines   *lineReader
	quit    chan struct{}
	pending sync.WaitGroup // the barrier's answer

	mu    sync.Mutex // of what is written to conn
	batch []byte     // answers to write with the next
}

// maxBatch bounds the answers that are held back.
const maxBatch = 32 << 10

// ErrProtocol: a well-formed message at the wrong time.
var ErrProtocol = errors.New("PMI protocol violation")

// handle answers one request. More is false after the last.
func (x *session) handle(m Message) (more bool, err error) {
	joined, finalized := x.s.Joined(x.rank)
	switch {
	case m.Cmd == "abort":
		x.abort(m)
		return true, nil
	case finalized:
		return false, fmt.Errorf("%w: %s after finalize", ErrProtocol, Quote(m.Cmd))
	case !joined && m.Cmd != "init":
		return false, fmt.Errorf("%w: %s before init", ErrProtocol, Quote(m.Cmd))
	case joined && m.Cmd == "init":
		return false, fmt.Errorf("%w: init twice", ErrProtocol)
	case x.waiting():
		return false, fmt.Errorf("%w: %s while in a barrier", ErrProtocol, Quote(m.Cmd))
	case strings.HasPrefix(m.Cmd, "mcmd:"):
		return false, fmt.Errorf("%w: %s: starting more ranks from a rank isn't supported", ErrProtocol, Quote(m.Cmd[5:]))
	}
	switch m.Cmd {
	case "init":
		return true, x.init(m)
	case "get_maxes":
		return true, x.answer(Msg("maxes", "rc", "0", "kvsname_max", strconv.Itoa(MaxKVSName),
			"keylen_max", strconv.Itoa(MaxKey), "vallen_max", strconv.Itoa(MaxValue)))
	case "get_appnum":
		return true, x.answer(Msg("appnum", "rc", "0", "appnum", strconv.Itoa(x.s.ranks[x.rank].app)))
	case "get_universe_size":
		return true, x.answer(Msg("universe_size", "rc", "0", "size", strconv.Itoa(x.s.size)))
	case "get_my_kvsname":
		return true, x.answer(Msg("my_kvsname", "rc", "0", "kvsname", x.s.name))
	case "put":
		return true, x.put(m)
	case "get":
		return true, x.get(m)
	case "barrier_in":
		return true, x.barrierIn(m)
	case "finalize":
		return false, x.finalize()
	default:
		return true, x.answer(Msg(unknownAnswer(m.Cmd), "rc", "-1", "msg", "unknown_command"))
	}
}

// unknownAnswer is the command that a client of a known but unsupported
// request waits for.
func unknownAnswer(cmd string) string {
	switch cmd {
	case "publish_name", "lookup_name", "unpublish_name":
		return strings.TrimSuffix(cmd, "_name") + "_result"
	}
	return "unknown_result"
}

func (x *session) waiting() bool {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	return x.s.ranks[x.rank].waiting
}

// answer writes one line, with those that wait.
func (x *session) answer(m Message) error {
	if err := x.answerLater(m); err != nil {
		return err
	}
	return x.flush()
}

// answerLater leaves the writing to the next answer, or to serve, which does it
// when there is no other request to handle first.
func (x *session) answerLater(m Message) error {
	line, err := m.Format()
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.batch = append(x.batch, line...)
	full := len(x.batch) >= maxBatch
	x.mu.Unlock()
	if full {
		return x.flush()
	}
	return nil
}

// flush writes what waits. A rank that doesn't take it is in error; one that is
// gone isn't, here: its exit status tells.
func (x *session) flush() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.batch) == 0 {
		return nil
	}
	_ = x.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := x.conn.Write(x.batch)
	x.batch = x.batch[:0]
	if err != nil && !gone(err) {
		return fmt.Errorf("%w: answers were not read: %w", ErrProtocol, err)
	}
	return nil
}

func (x *session) init(m Message) error {
	if v, _ := m.Get("pmi_version"); v != "1" {
		return x.answer(Msg("response_to_init", "rc", "-1", "pmi_version", "1", "pmi_subversion", "1"))
	}
	x.s.mu.Lock()
	x.s.ranks[x.rank].joined = true
	x.s.mu.Unlock()
	return x.answer(Msg("response_to_init", "rc", "0", "pmi_version", "1", "pmi_subversion", "1"))
}

func (x *session) finalize() error {
	x.s.mu.Lock()
	x.s.ranks[x.rank].finalized = true
	x.s.mu.Unlock()
	err := x.answer(Msg("finalize_ack", "rc", "0"))
	x.s.checkStuck()
	return err
}

func (x *session) abort(m Message) {
	code, err := m.Int("exitcode")
	if err != nil {
		code = 1
	}
	why, _ := m.Get("msg")
	if f, ok := x.s.events.(Follower); ok {
		if _, follows := m.Get("follows"); follows {
			f.Follow(x.rank, code, UnescapeText(why))
			return
		}
	}
	x.s.events.Abort(x.rank, code, UnescapeText(why))
}
