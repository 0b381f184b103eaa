package pmi

import (
	"bytes"
	"fmt"
	"io"
)

// lineReader reads lines of bounded length. It is a bufio.Reader that says
// "too long" rather than growing, and keeps what it has when a read is cut
// short by a deadline.
type lineReader struct {
	r    io.Reader
	buf  []byte
	from int // start of unread bytes
	to   int // end of unread bytes
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: r, buf: make([]byte, MaxLine)}
}

// more says whether a whole line is there already.
func (l *lineReader) more() bool {
	return bytes.IndexByte(l.buf[l.from:l.to], '\n') >= 0
}

// next returns one line without its newline, valid until the next call. At the
// end of the stream an unfinished line is ErrMalformed, else io.EOF.
func (l *lineReader) next() ([]byte, error) {
	searched := l.from
	for {
		if i := bytes.IndexByte(l.buf[searched:l.to], '\n'); i >= 0 {
			line := l.buf[l.from : searched+i]
			l.from = searched + i + 1
			return line, nil
		}
		if l.from > 0 {
			copy(l.buf, l.buf[l.from:l.to])
			l.to -= l.from
			l.from = 0
		}
		if l.to == len(l.buf) {
			return nil, fmt.Errorf("%w: over %d bytes without a newline, starting %s", ErrTooLong, MaxLine, Quote(string(l.buf[:64])))
		}
		searched = l.to
		n, err := l.r.Read(l.buf[l.to:])
		l.to += n
		if err != nil && n == 0 {
			if err == io.EOF && l.to > 0 {
				return nil, fmt.Errorf("%w: the stream ended inside a line, %s", ErrMalformed, Quote(string(l.buf[:l.to])))
			}
			return nil, err
		}
	}
}
