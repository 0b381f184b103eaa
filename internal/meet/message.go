package meet

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/verbena-mpi/verbena/internal/pmi"
)

// maxLine bounds a line of the meeting's own protocol, with its newline.
const maxLine = 4 << 10

// hear reads a line. What may come after it stays in r.
func hear(r *bufio.Reader) (pmi.Message, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return pmi.Message{}, fmt.Errorf("%w: over %d bytes without a newline", pmi.ErrTooLong, maxLine)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return pmi.Message{}, fmt.Errorf("%w: the stream ended inside a line", pmi.ErrMalformed)
	case err != nil:
		return pmi.Message{}, err
	}
	return pmi.Parse(line)
}

// say writes a line.
func say(c net.Conn, limit time.Duration, m pmi.Message) error {
	line, err := m.Format()
	if err != nil {
		return err
	}
	_ = c.SetWriteDeadline(time.Now().Add(limit))
	_, err = c.Write(line)
	return err
}

// hello is a rank's first line.
type hello struct {
	job        string
	rank, size int
	within     time.Duration // how long the rank will wait
}

func (h hello) message() pmi.Message {
	return pmi.Msg("meet", "protocol", strconv.Itoa(protocol), "job", pmi.EscapeText(h.job, pmi.MaxValue),
		"rank", strconv.Itoa(h.rank), "size", strconv.Itoa(h.size), "within", strconv.FormatInt(h.within.Milliseconds(), 10))
}

// readHello checks what doesn't depend on the job.
func readHello(m pmi.Message) (h hello, err error) {
	version, err := m.Int("protocol")
	if err != nil {
		return h, err
	}
	if version != protocol {
		return h, fmt.Errorf("it meets by version %d of the protocol, rank 0 by version %d: build all ranks from one source", version, protocol)
	}
	rank, e1 := m.Int("rank")
	size, e2 := m.Int("size")
	within, e3 := m.Int("within")
	job, _ := m.Get("job")
	if err := errors.Join(e1, e2, e3); err != nil {
		return h, err
	}
	if within < 0 || time.Duration(within) > maxTimeout/time.Millisecond {
		return h, fmt.Errorf("%w: within=%d", pmi.ErrMalformed, within)
	}
	return hello{pmi.UnescapeText(job), rank, size, time.Duration(within) * time.Millisecond}, nil
}

// maxTimeout is the longest that a rank may wait.
const maxTimeout = 1000 * time.Hour

// result is rank 0's answer; nil is its consent.
func result(err *RefusedError) pmi.Message {
	if err == nil {
		return pmi.Msg("meet_result", "rc", "0")
	}
	rc := map[bool]string{false: "-1", true: "1"}[err.again]
	return pmi.Msg("meet_result", "rc", rc, "msg", pmi.EscapeText(err.Why, 2*pmi.MaxValue))
}

// readResult is its inverse; what isn't a result is an error of another type.
func readResult(m pmi.Message) error {
	if m.Cmd != "meet_result" {
		return fmt.Errorf("%w: expected meet_result, got %s", pmi.ErrMalformed, pmi.Quote(m.Cmd))
	}
	rc, err := m.Int("rc")
	if err != nil {
		return err
	}
	if rc == 0 {
		return nil
	}
	msg, _ := m.Get("msg")
	return &RefusedError{Why: pmi.UnescapeText(msg), again: rc > 0}
}
