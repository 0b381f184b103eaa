package meet

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/pmi"
)

const (
	firstPause = 50 * time.Millisecond // between tries, then longer and longer
	lastPause  = time.Second
	// strangerPatience is how long somebody else may answer at the meeting's
	// address, perhaps a job that is about to end.
	strangerPatience = 10 * time.Second
)

// visit comes to the meeting. Rank 0 may start later, and its name may not resolve
// yet: whatever fails is tried again until the time is over, but for a clear word of
// rank 0's.
func visit(ctx context.Context, c Config) (*Place, error) {
	var strangers time.Time // since when there have been only such
	var last error
	until, _ := ctx.Deadline()
	patience := time.Until(until)
	pause := firstPause
	for tries := 1; ; tries++ {
		p, err := try(ctx, c)
		if err == nil {
			return p, nil
		}
		var refused *RefusedError
		if errors.As(err, &refused) && !refused.again {
			return nil, err
		}
		if last == nil || ctx.Err() == nil && time.Now().Before(until) {
			last = err // and not that of a try that was cut short
		}
		switch {
		case !errors.Is(err, ErrStranger):
			strangers = time.Time{}
		case strangers.IsZero():
			strangers = time.Now()
		case time.Since(strangers) > strangerPatience:
			return nil, err
		}
		wait := time.NewTimer(jitter(pause))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil, gaveUp(ctx, patience, tries, last)
		}
		pause = min(pause*3/2, lastPause)
	}
}

// gaveUp says why, and what failed last.
func gaveUp(ctx context.Context, patience time.Duration, tries int, last error) error {
	if outOfTime(ctx) {
		return fmt.Errorf("rank 0 was not met within %v (%d tries); the last one: %w", patience.Round(10*time.Millisecond), tries, last)
	}
	return fmt.Errorf("%w after %d tries; the last one: %w", context.Cause(ctx), tries, last)
}

// jitter keeps many ranks from trying in step.
func jitter(d time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(d)))
	if err != nil {
		return d
	}
	return d/2 + time.Duration(n.Int64())
}

// try is one visit, until the meeting begins.
func try(ctx context.Context, c Config) (p *Place, err error) {
	first, err := open(ctx, c.Way)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = first.Close()
		}
	}()
	stop := context.AfterFunc(ctx, func() {
		if !outOfTime(ctx) { // that rank 0 has been told, and answers
			_ = first.Close()
		}
	})
	defer stop()
	until, _ := ctx.Deadline()
	h := hello{job: c.Job, rank: c.Rank, size: c.Size, within: max(time.Until(until), 0)}
	if err := say(first, answerLimit, h.message()); err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(first, maxLine)
	_ = first.SetReadDeadline(time.Now().Add(answerLimit))
	m, err := hear(r)
	if err != nil {
		return nil, fmt.Errorf("rank 0 did not answer: %w", err)
	}
	if m.Cmd != "meet_wait" {
		if err := readResult(m); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: expected meet_wait", pmi.ErrMalformed)
	}
	token, _ := m.Get("token")
	second, err := openControl(ctx, c, token)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = second.Close()
		}
	}()
	_ = first.SetReadDeadline(until.Add(resultGrace))
	if m, err = hear(r); err != nil {
		return nil, waited(err)
	}
	if err := readResult(m); err != nil {
		return nil, err
	}
	_ = first.SetReadDeadline(time.Time{})
	_ = second.SetReadDeadline(time.Time{})
	p = &Place{PMI: first, Control: control.NewConn(second)}
	p.Control.Last(control.Message{Kind: control.Exit, Rank: 0, How: control.Died})
	return p, nil
}

func waited(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("rank 0 was there, and did not say who is missing: %w", err)
	}
	return fmt.Errorf("rank 0 ended while ranks were missing: %w", err)
}

// openControl makes the second connection.
func openControl(ctx context.Context, c Config, token string) (net.Conn, error) {
	second, err := open(ctx, c.Way)
	if err != nil {
		return nil, err
	}
	if err = say(second, answerLimit, pmi.Msg("meet_control", "rank", strconv.Itoa(c.Rank), "token", token)); err == nil {
		_ = second.SetReadDeadline(time.Now().Add(answerLimit))
		var m pmi.Message
		if m, err = hear(bufio.NewReaderSize(second, maxLine)); err == nil {
			err = readResult(m)
		}
	}
	if err != nil {
		_ = second.Close()
		return nil, fmt.Errorf("the control connection: %w", err)
	}
	return second, nil
}

// open connects, and proves.
func open(ctx context.Context, w Way) (net.Conn, error) {
	dctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	c, err := w.Dial(dctx)
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(time.Now().Add(strangerLimit))
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	s, err := w.Secure(c, false)
	if !stop() || err != nil {
		_ = c.Close()
		if err == nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	_ = c.SetDeadline(time.Time{})
	return s, nil
}
