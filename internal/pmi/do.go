package pmi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// Do sends one request and returns its answer, which must be the command want
// with rc 0 or none. The context's end, or the limit, breaks the connection:
// the answer could come later and be taken for another's.
func (c *Client) Do(ctx context.Context, limit time.Duration, want string, req Message) (Message, error) {
	m, err := c.do(ctx, limit, want, req)
	if err != nil {
		return Message{}, &StepError{Rank: c.rank, Step: req.Cmd, Err: err}
	}
	return m[0], nil
}

// do sends requests in one write and returns their answers. More than one at a
// time is for a server that is Ours.
func (c *Client) do(ctx context.Context, limit time.Duration, want string, reqs ...Message) ([]Message, error) {
	if c.broken != nil {
		return nil, fmt.Errorf("after an earlier failure: %w", c.broken)
	}
	if err := ctx.Err(); err != nil {
		return nil, err // nothing was sent, nothing is broken
	}
	var lines []byte
	for _, r := range reqs {
		line, err := r.Format()
		if err != nil {
			return nil, err
		}
		lines = append(lines, line...)
	}
	until := time.Now().Add(limit)
	callers := false // whose limit it is
	if d, ok := ctx.Deadline(); ok && d.Before(until) {
		until, callers = d, true
	}
	_, _ = c.conn.SetReadDeadline(until), c.conn.SetWriteDeadline(until) // if it is closed, writing says so
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn.SetReadDeadline(time.Unix(1, 0))
		close(ended)
	})
	answers, err := c.exchange(lines, want, len(reqs))
	if !stop() {
		<-ended // or it would cut the next request's deadline
	}
	if err == nil {
		return answers, firstRefused(answers)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
		err = fmt.Errorf("no answer (expected %s): %w", want, context.Cause(ctx))
	case errors.Is(err, os.ErrDeadlineExceeded) && callers:
		// The connection's clock was a moment ahead of the context's.
		err = fmt.Errorf("no answer (expected %s): %w", want, context.DeadlineExceeded)
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("no answer (expected %s) within %v: %w", want, limit, err)
	case gone(err):
		err = fmt.Errorf("%w (expected %s)", ErrGone, want)
	}
	c.broken = err
	return nil, err
}

// exchange writes in one write and reads n answers.
func (c *Client) exchange(lines []byte, want string, n int) ([]Message, error) {
	if _, err := c.conn.Write(lines); err != nil {
		if !gone(err) {
			return nil, err
		}
		if line, rerr := c.lines.next(); rerr == nil { // its last word
			if m, perr := Parse(line); perr == nil && m.Cmd == "error" {
				return nil, cmp.Or(refused(m), err)
			}
		}
		return nil, err
	}
	answers := make([]Message, 0, n)
	for range n {
		line, err := c.lines.next()
		if err != nil {
			return nil, err
		}
		m, err := Parse(line)
		if err != nil {
			return nil, err
		}
		switch m.Cmd {
		case want:
			answers = append(answers, m)
		case "error": // our server's last word
			return nil, cmp.Or(refused(m), ErrMalformed)
		default:
			return nil, fmt.Errorf("%w: expected %s, got %s", ErrMalformed, want, Quote(m.Cmd))
		}
	}
	return answers, nil
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

func firstRefused(answers []Message) error {
	for _, m := range answers {
		if err := refused(m); err != nil {
			return err
		}
	}
	return nil
}

func gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
