package pmi

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Default limits of a client's steps, where the context sets no earlier one.
const (
	AnswerTimeout  = 30 * time.Second // requests the server answers by itself
	BarrierTimeout = 5 * time.Minute  // the one request that waits for other ranks
	abortTimeout   = time.Second
)

// ErrGone: the server closed the connection.
var ErrGone = errors.New("the launcher is gone")

// StepError says which request of which rank failed.
type StepError struct {
	Rank int
	Step string // the request, as on the wire
	Err  error
}

func (e *StepError) Error() string {
	return fmt.Sprintf("pmi: rank %d: %s: %v", e.Rank, e.Step, e.Err)
}

func (e *StepError) Unwrap() error { return e.Err }

// Client is a rank's side of the protocol. Its calls are made one at a time,
// except Abort, which may be called at any moment.
type Client struct {
	// Ours: the server is Server, which takes several requests at a time, and is
	// told how long this rank will wait for others. Set before other calls.
	Ours bool

	rank   int
	conn   Conn
	lines  *lineReader
	broken error // the first failure: answers can't be told apart after it
}

// NewClient takes the connection over.
func NewClient(rank int, conn Conn) *Client {
	return &Client{rank: rank, conn: conn, lines: newLineReader(conn)}
}

// Abort asks the launcher to end the job. It doesn't wait for anything but
// room for one line, for at most a second.
func (c *Client) Abort(code int, why string) error {
	return c.abort(Msg("abort", "exitcode", strconv.Itoa(code)), why)
}

// Follow is an Abort for which another rank's end is the reason: that one is to be
// blamed. It is for our own server only.
func (c *Client) Follow(code int, why string) error {
	return c.abort(Msg("abort", "exitcode", strconv.Itoa(code), "follows", "1"), why)
}

func (c *Client) abort(m Message, why string) error {
	if why != "" {
		m.Fields = append(m.Fields, Field{"msg", EscapeText(why, SafeValue)})
	}
	line, err := m.Format()
	if err != nil {
		return err
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(abortTimeout))
	_, err = c.conn.Write(line)
	return err
}

// Close closes the connection.
func (c *Client) Close() error {
	if c.broken == nil {
		c.broken = os.ErrClosed
	}
	return c.conn.Close()
}
