package pmi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
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
	rank   int
	conn   Conn
	lines  *lineReader
	broken error // the first failure: answers can't be told apart after it
}

// NewClient takes the connection over.
func NewClient(rank int, conn Conn) *Client {
	return &Client{rank: rank, conn: conn, lines: newLineReader(conn)}
}

// Do sends one request and returns its answer, which must be the command want
// with rc 0 or none. The context's end, or the limit, breaks the connection:
// the answer could come later and be taken for another's.
func (c *Client) Do(ctx context.Context, limit time.Duration, want string, req Message) (Message, error) {
	m, err := c.do(ctx, limit, want, req)
	if err != nil {
		return m, &StepError{Rank: c.rank, Step: req.Cmd, Err: err}
	}
	return m, nil
}

func (c *Client) do(ctx context.Context, limit time.Duration, want string, req Message) (Message, error) {
	var none Message
	if c.broken != nil {
		return none, fmt.Errorf("after an earlier failure: %w", c.broken)
	}
	if err := ctx.Err(); err != nil {
		return none, err // nothing was sent, nothing is broken
	}
	line, err := req.Format()
	if err != nil {
		return none, err
	}
	until := time.Now().Add(limit)
	callers := false // whose limit it is
	if d, ok := ctx.Deadline(); ok && d.Before(until) {
		until, callers = d, true
	}
	if err := errors.Join(c.conn.SetReadDeadline(until), c.conn.SetWriteDeadline(until)); err != nil {
		return none, err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn.SetReadDeadline(time.Unix(1, 0))
		close(ended)
	})
	start := time.Now()
	m, err := c.exchange(line)
	if !stop() {
		<-ended // or it would cut the next request's deadline
	}
	if err != nil {
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
			err = fmt.Errorf("no answer (expected %s): %w", want, context.Cause(ctx))
		case errors.Is(err, os.ErrDeadlineExceeded) && callers:
			// The connection's clock was a moment ahead of the context's.
			err = fmt.Errorf("no answer (expected %s): %w", want, context.DeadlineExceeded)
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = fmt.Errorf("no answer (expected %s) within %v: %w", want, time.Since(start).Round(time.Millisecond), err)
		case gone(err):
			err = fmt.Errorf("%w (expected %s)", ErrGone, want)
		}
		c.broken = err
		return none, err
	}
	if m.Cmd == "error" {
		c.broken = refused(m)
		return none, cmp.Or(c.broken, ErrMalformed)
	}
	if m.Cmd != want {
		c.broken = fmt.Errorf("%w: expected %s, got %s", ErrMalformed, want, Quote(m.Cmd))
		return none, c.broken
	}
	return m, refused(m)
}

// exchange writes the line in one write and reads one.
func (c *Client) exchange(line []byte) (Message, error) {
	if _, err := c.conn.Write(line); err != nil {
		return Message{}, err
	}
	answer, err := c.lines.next()
	if err != nil {
		return Message{}, err
	}
	return Parse(answer)
}

// RefusedError is an answer whose rc isn't 0.
type RefusedError struct{ RC, Msg string }

func (e *RefusedError) Error() string {
	if e.Msg == "" {
		return "refused by the launcher, rc=" + e.RC
	}
	return "refused by the launcher, rc=" + e.RC + ": " + UnescapeText(e.Msg)
}

func refused(m Message) error {
	rc, ok := m.Get("rc")
	if !ok || rc == "0" {
		return nil
	}
	msg, _ := m.Get("msg")
	return &RefusedError{RC: rc, Msg: msg}
}

func gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// Abort asks the launcher to end the job. It doesn't wait for anything but
// room for one line, for at most a second.
func (c *Client) Abort(code int, why string) error {
	m := Msg("abort", "exitcode", strconv.Itoa(code))
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
