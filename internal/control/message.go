// Package control is what verbrun and its ranks say to each other besides PMI:
// which ranks have ended, and where a rank is blocked. Where there is no verbrun,
// rank 0 of a meeting (internal/meet) says the former, and what verbrun would do
// itself: that the job is aborted.
//
// A rank inherits one end of a socket pair, and a file for its last words; the
// environment variable Env names both. Messages are lines: a word that says what
// kind it is, and its fields in their order, numbers in decimal and texts quoted
// as in Go.
//
//	rank      hello VERSION
//	launcher  exit RANK finished|died
//	rank 0    abort RANK STATUS WHY
//	launcher  ask ID
//	rank      op ID CALL PEER TAG BYTES NANOSECONDS PLACE WITHIN
//	rank      state ID blocked|moving SENT RECEIVED LEFTOUT DOING PLACE
//
// A rank answers ask with its pending operations and then its state. It sends its
// state by itself, with the ID 0, when it has been blocked for long. A launcher
// sends nothing to a rank before its hello: there may be nobody who reads.
package control

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Version is the protocol's.
const Version = 1

// Limits of a message.
const (
	MaxLine = 16 << 10 // bytes, with the newline
	maxText = 1 << 10  // bytes of one text before quoting; longer ones are cut
	// MaxOps is how many operations a rank lists in one answer.
	MaxOps = 1000
)

// Kind says what a message is.
type Kind uint8

const (
	Hello Kind = iota + 1
	Exit
	Ask
	Pending
	Report
	Abort // the rank that hears it ends
)

// How a rank ended.
const (
	Finished = "finished"
	Died     = "died"
)

// Any and None are peers and tags that are no number.
const (
	Any  = -1
	None = -2
)

// Message is one line; its kind says which fields count.
type Message struct {
	Kind    Kind
	Version int    // of Hello
	Rank    int    // of Exit; of Abort: who wants it
	How     string // of Exit
	Status  int    // of Abort: that of each process
	Why     string // of Abort
	ID      uint64 // of Ask, and of what answers it
	Op      Op     // of Pending
	State   State  // of Report
}

// Op is an operation that isn't complete.
type Op struct {
	Call  string
	Peer  int // or Any, or None
	Tag   int // or Any
	Bytes int64
	For   time.Duration // how long somebody has been waiting for it
	// Place is the source line of whoever waits for it. Empty: nobody does.
	Place string
	// Within is the call that waits for it, if it isn't Call.
	Within string
}

// State is a rank's.
type State struct {
	// Blocked: all its goroutines wait for messages, or for each other.
	Blocked        bool
	Sent, Received uint64 // messages, with ranks that live
	LeftOut        int    // operations that were not listed
	Doing, Place   string // of the main goroutine: what it waits for, and its source line
}

// Append appends the line.
func (m Message) Append(b []byte) []byte {
	switch m.Kind {
	case Hello:
		return fmt.Appendf(b, "hello %d\n", m.Version)
	case Exit:
		return fmt.Appendf(b, "exit %d %s\n", m.Rank, m.How)
	case Abort:
		return fmt.Appendf(b, "abort %d %d %s\n", m.Rank, m.Status, quote(m.Why))
	case Ask:
		return fmt.Appendf(b, "ask %d\n", m.ID)
	case Pending:
		o := m.Op
		return fmt.Appendf(b, "op %d %s %d %d %d %d %s %s\n", m.ID, quote(o.Call), o.Peer, o.Tag, o.Bytes, int64(o.For), quote(o.Place), quote(o.Within))
	case Report:
		s, word := m.State, "moving"
		if s.Blocked {
			word = "blocked"
		}
		return fmt.Appendf(b, "state %d %s %d %d %d %s %s\n", m.ID, word, s.Sent, s.Received, s.LeftOut, quote(s.Doing), quote(s.Place))
	}
	panic(fmt.Sprintf("control: a message of kind %d", m.Kind))
}

func quote(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strconv.QuoteToASCII(s)
}

// ErrMessage is the error of a line that is no message.
var ErrMessage = errors.New("control: not a message")

// Parse reads a line, without its newline.
func Parse(line string) (Message, error) {
	word, rest, _ := strings.Cut(line, " ")
	f := fields{rest: rest, more: len(rest) > 0}
	var m Message
	switch word {
	case "hello":
		m = Message{Kind: Hello, Version: f.number()}
	case "exit":
		m = Message{Kind: Exit, Rank: f.number(), How: f.word(Finished, Died)}
	case "abort":
		m = Message{Kind: Abort, Rank: f.number(), Status: f.number(), Why: f.text()}
	case "ask":
		m = Message{Kind: Ask, ID: f.count()}
	case "op":
		m = Message{Kind: Pending, ID: f.count(), Op: Op{
			Call: f.text(), Peer: f.place(), Tag: f.place(), Bytes: int64(f.number()),
			For: time.Duration(f.number()), Place: f.text(), Within: f.text(),
		}}
	case "state":
		m = Message{Kind: Report, ID: f.count(), State: State{
			Blocked: f.word("blocked", "moving") == "blocked", Sent: f.count(), Received: f.count(),
			LeftOut: f.number(), Doing: f.text(), Place: f.text(),
		}}
	default:
		f.bad = true
	}
	if f.bad || f.more {
		return Message{}, fmt.Errorf("%w: %.80q", ErrMessage, line)
	}
	return m, nil
}

// fields takes a line apart. The first mistake counts.
type fields struct {
	rest string
	more bool // rest is a field, and what follows it
	bad  bool
}

func (f *fields) next() string {
	if !f.more {
		f.bad = true
		return ""
	}
	var s string
	s, f.rest, f.more = strings.Cut(f.rest, " ")
	return s
}

// number is from 0.
func (f *fields) number() int {
	n, err := strconv.ParseInt(f.next(), 10, 64)
	f.bad = f.bad || err != nil || n < 0
	return int(n)
}

// place is a number, or Any, or None.
func (f *fields) place() int {
	n, err := strconv.ParseInt(f.next(), 10, 64)
	f.bad = f.bad || err != nil || n < None
	return int(n)
}

func (f *fields) count() uint64 {
	n, err := strconv.ParseUint(f.next(), 10, 64)
	f.bad = f.bad || err != nil
	return n
}

func (f *fields) word(either, or string) string {
	s := f.next()
	f.bad = f.bad || s != either && s != or
	return s
}

func (f *fields) text() string {
	q, err := strconv.QuotedPrefix(f.rest)
	if !f.more || err != nil || q[0] != '"' {
		f.bad = true
		return ""
	}
	s, err := strconv.Unquote(q)
	f.bad = f.bad || err != nil
	f.rest = f.rest[len(q):]
	if f.more = f.rest != ""; f.more {
		if f.rest[0] != ' ' {
			f.bad = true
		}
		f.rest = f.rest[1:]
	}
	return s
}

// String is the operation as people read it.
func (o Op) String() string {
	if o.Peer == None {
		return o.Call
	}
	name := func(n int, anyName string) string {
		if n == Any {
			return anyName
		}
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s(peer %s, tag %s, %d B)", o.Call, name(o.Peer, "AnySource"), name(o.Tag, "AnyTag"), o.Bytes)
}

// Text is the operation with who waits for it, where and how long. The place is
// o.Place as the reader finds it.
func (o Op) Text(place string) string {
	if o.Place == "" {
		return o.String() + ", nobody waits for it"
	}
	s := o.String()
	if o.Within != "" {
		s += " in " + o.Within
	}
	if o.For > 0 {
		s += fmt.Sprintf(", for %v", o.For.Round(100*time.Millisecond))
	}
	return s + ", at " + place
}
