package control

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Stream is what a connection is made of: a socket in Go's poller.
type Stream interface {
	io.ReadWriteCloser
	SetWriteDeadline(time.Time) error
}

// Conn is one end. One goroutine receives; any number may send.
type Conn struct {
	s Stream
	r *bufio.Reader

	last *Message // what the stream's end means, for the goroutine that receives

	mu   sync.Mutex
	dead error // of the first send that failed: the line may be broken off
}

// NewConn takes a stream over.
func NewConn(s Stream) *Conn { return &Conn{s: s, r: bufio.NewReaderSize(s, MaxLine)} }

// Last has Receive return m when the stream ends, unless it has received m's exit
// before or Close was called: where the other end is a rank, the stream ends with
// that. It is called before Receive.
func (c *Conn) Last(m Message) { c.last = &m }

// Close ends the connection; Receive returns.
func (c *Conn) Close() error { return c.s.Close() }

// Send sends messages, all at once. After an error, also that of a peer that
// doesn't read for as long as limit, nothing more is sent.
func (c *Conn) Send(limit time.Duration, all ...Message) error {
	var b []byte
	for _, m := range all {
		b = m.Append(b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead != nil {
		return c.dead
	}
	if c.dead = c.s.SetWriteDeadline(time.Now().Add(limit)); c.dead == nil {
		_, c.dead = c.s.Write(b)
	}
	return c.dead
}

// Receive waits for a message. After an error there is nothing more to receive.
func (c *Conn) Receive() (Message, error) {
	line, err := c.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return Message{}, fmt.Errorf("%w: a line of more than %d bytes", ErrMessage, MaxLine)
	}
	if m := c.last; err != nil && m != nil && len(line) == 0 && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
		c.last = nil
		return *m, nil
	}
	if err != nil {
		return Message{}, err
	}
	m, err := Parse(string(line[:len(line)-1]))
	if c.last != nil && m.Kind == c.last.Kind && m.Rank == c.last.Rank {
		c.last = nil
	}
	return m, err
}
