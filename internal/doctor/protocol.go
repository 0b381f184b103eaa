package doctor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs/tcp"
)

// What a helper and the one who has started it say: lines of JSON. A helper's begin with a
// word, since a login shell may print something first. All that a helper says is checked
// and bounded; it is on another host.
//
//	doctor → helper  setup
//	helper → doctor  hello
//	doctor → helper  target, one for each of the others, and an empty one
//	helper → doctor  result, one for each
//	doctor           ends the helper's input
const helperWord = "verbena-doctor: "

// Bounds of what is read.
const (
	maxLine    = 1 << 20
	maxSkipped = 64 << 10 // of a login shell
	maxNames   = 1024     // addresses or findings of a host
)

// setup is a helper's first line.
type setup struct {
	Secret string // secret.Text
	Host   int    // the helper's
	Net    string // VERBENA_NET
}

// hello is what a host is like.
type hello struct {
	Version  string
	Path     string
	Machine  string // of the kernel that runs and the network that is seen
	Time     time.Time
	Port     uint16
	Cores    int // that it may use; 0: unknown
	Networks []tcp.Network
	Findings []Finding
}

// target is a host to connect to.
type target struct {
	Host  int
	Addrs []string // with ports
}

// result is how that went.
type result struct {
	Host  int
	Tries []try
}

// try is a connection to one address.
type try struct {
	Addr string
	Took time.Duration
	Err  string // "": it was made, and the other is our helper
}

func (h *hello) check() error {
	switch {
	case h.Port == 0:
		return errors.New("its helper has no port")
	case len(h.Networks) > maxNames || len(h.Findings) > maxNames:
		return fmt.Errorf("its helper has %d networks and %d findings: expected at most %d", len(h.Networks), len(h.Findings), maxNames)
	}
	for _, n := range h.Networks {
		if !n.Addr.IsValid() {
			return fmt.Errorf("its helper has no address on %q", n.Name)
		}
	}
	return nil
}

func (s *setup) key() (secret.Secret, error) { return secret.Parse(s.Secret) }

// say writes a line. before is a helper's word, or nothing.
func say(w io.Writer, before string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(append([]byte(before), b...), '\n'))
	return err
}

// reader reads lines.
type reader struct {
	*bufio.Reader
	skipped int // bytes of lines that were not a helper's
}

func newReader(r io.Reader) *reader { return &reader{Reader: bufio.NewReaderSize(r, 64<<10)} }

// hear reads the next line that begins with a word, and what it says.
func (r *reader) hear(before string, v any) error {
	for {
		line, err := r.line()
		if err != nil {
			return err
		}
		// A shell's last word may have had no newline.
		i := strings.Index(line, before)
		if i < 0 {
			if r.skipped += len(line); r.skipped > maxSkipped {
				return fmt.Errorf("more than %d bytes that aren't a helper's", maxSkipped)
			}
			continue
		}
		if err := json.Unmarshal([]byte(line[i+len(before):]), v); err != nil {
			return fmt.Errorf("a line that can't be read: %w", err)
		}
		return nil
	}
}

// line reads one, up to a length.
func (r *reader) line() (string, error) {
	var b []byte
	for {
		part, err := r.ReadSlice('\n')
		b = append(b, part...)
		switch {
		case len(b) > maxLine:
			return "", fmt.Errorf("a line of more than %d bytes", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return "", err
		default:
			return string(b), nil
		}
	}
}
