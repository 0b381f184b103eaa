package pmi

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// InitAck is the opening on a connection that the rank made itself, before
// Init: the rank names itself by the id it was given, and is told its place.
func InitAck(ctx context.Context, conn Conn, id string) (rank, size int, err error) {
	req, err := Msg("initack", "pmiid", id).Format()
	if err != nil {
		return 0, 0, err
	}
	until := time.Now().Add(AnswerTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(until) {
		until = d
	}
	_ = conn.SetReadDeadline(until)
	_ = conn.SetWriteDeadline(until)
	if _, err := conn.Write(req); err != nil {
		return 0, 0, fmt.Errorf("initack: %w", err)
	}
	// The server says these four lines and no more until it is asked again, so
	// the reader's buffer can be dropped with nothing in it.
	lines := newLineReader(conn)
	got := map[string]int{}
	for i := range 4 {
		line, err := lines.next()
		if err != nil {
			return 0, 0, fmt.Errorf("initack: line %d of 4: %w", i+1, err)
		}
		m, err := Parse(line)
		if err != nil {
			return 0, 0, fmt.Errorf("initack: %w", err)
		}
		if want := map[bool]string{true: "initack", false: "set"}[i == 0]; m.Cmd != want {
			return 0, 0, fmt.Errorf("initack: %w: line %d of 4: expected %s, got %s", ErrMalformed, i+1, want, Quote(m.Cmd))
		}
		for _, f := range m.Fields {
			if n, err := strconv.Atoi(f.Value); err == nil {
				got[f.Key] = n
			}
		}
	}
	rank, okr := got["rank"]
	size, oks := got["size"]
	if !okr || !oks || size < 1 || rank < 0 || rank >= size {
		return 0, 0, fmt.Errorf("initack: %w: rank %d of size %d", ErrMalformed, rank, size)
	}
	return rank, size, nil
}
