package control

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var all = []Message{
	{Kind: Hello, Version: 1},
	{Kind: Exit, Rank: 3, How: Died},
	{Kind: Exit, Rank: 0, How: Finished},
	{Kind: Abort, Rank: 3, Status: 7, Why: "because \"it\" is\nso"},
	{Kind: Abort},
	{Kind: Ask, ID: 1<<64 - 1},
	{Kind: Pending, ID: 7, Op: Op{Call: "Recv", Peer: Any, Tag: Any, Bytes: 1 << 62, For: time.Minute, Place: "/a b/\"x\"\n.go:3"}},
	{Kind: Pending, ID: 7, Op: Op{Call: "Irecv", Peer: 2, Tag: 0, Within: "WaitAll"}},
	{Kind: Pending, ID: 7, Op: Op{Call: "Wait", Peer: None}},
	{Kind: Report, ID: 7, State: State{Blocked: true, Sent: 1, Received: 2, LeftOut: 3, Doing: "sleep", Place: "é.go:1"}},
	{Kind: Report, State: State{}},
}

func TestMessages(t *testing.T) {
	for _, m := range all {
		line, ok := strings.CutSuffix(string(m.Append(nil)), "\n")
		got, err := Parse(line)
		if d := cmp.Diff(m, got); d != "" || err != nil || !ok || strings.Contains(line, "\n") {
			t.Errorf("%q: %v\n%s", line, err, d)
		}
	}
}

func TestLongTexts(t *testing.T) {
	for _, char := range []string{"\u2028", "\xff", "\x00", "x"} {
		long := strings.Repeat(char, 5000)
		for _, m := range []Message{
			{Kind: Pending, Op: Op{Call: long, Place: long, Within: long}},
			{Kind: Report, State: State{Doing: long, Place: long}},
			{Kind: Abort, Why: long},
		} {
			b := m.Append(nil)
			if _, err := Parse(string(b[:len(b)-1])); err != nil || len(b) > MaxLine {
				t.Errorf("%q: %d bytes: %v", char, len(b), err)
			}
		}
	}
}

func TestNotMessages(t *testing.T) {
	for _, line := range []string{
		"", " ", "hello", "hello x", "hello 1 ", "hello 1 2", "hello -1", "exit 1", "exit 1 gone", "exit -1 died", "abort 1 2", `abort 1 2 a`, `abort 1 -2 "a"`, `abort 1 2 "a" 3`, "ask", "ask -1",
		"ask 18446744073709551616", `op 1 "a" 1 1 1 1 "b"`, `op 1 a 1 1 1 1 "b" "c"`, `op 1 "a" -3 1 1 1 "b" "c"`, `op 1 "a" 1 1 1 1 "b""c"`,
		`op 1 "a" 1 1 1 1 "b" "c" `, `op 1 "a" 1 1 1 1 "b" 'c'`, `state 1 blocked 1 1 1 "" `, `state 1 lost 1 1 1 "" ""`, "Hello 1",
	} {
		if m, err := Parse(line); !errors.Is(err, ErrMessage) {
			t.Errorf("%q: %+v, %v", line, m, err)
		}
	}
}

func TestConn(t *testing.T) {
	a, b := net.Pipe()
	defer func() { _, _ = a.Close(), b.Close() }()
	left, right := NewConn(a), NewConn(b)
	sent := make(chan error, 1)
	go func() { sent <- left.Send(10*time.Second, all...) }()
	for _, want := range all {
		got, err := right.Receive()
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Fatalf("%v\n%s", err, d)
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	// Nobody reads: it fails in time, and goes on failing.
	for range 2 {
		if err := left.Send(time.Millisecond, all[0]); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	}
	if err := left.Close(); err != nil {
		t.Error(err)
	}
	if _, err := right.Receive(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestConnLongLine(t *testing.T) {
	a, b := net.Pipe()
	defer func() { _, _ = a.Close(), b.Close() }()
	go func() { _, _ = a.Write(make([]byte, 2*MaxLine)) }()
	if _, err := NewConn(b).Receive(); !errors.Is(err, ErrMessage) {
		t.Error(err)
	}
}

func TestPlace(t *testing.T) {
	want := Place{4, 5, "verbrun-1-a,b"}
	if got, err := ParsePlace(want.String()); err != nil || got != want {
		t.Error(got, err)
	}
	for _, s := range []string{"", "4", "4,5", "4,5,", "x,5,j", "4,4,j", "-1,5,j", "1,2,j"} {
		if got, err := ParsePlace(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, m := range all {
		f.Add(strings.TrimSuffix(string(m.Append(nil)), "\n"))
	}
	f.Fuzz(func(t *testing.T, line string) {
		m, err := Parse(line)
		if err != nil {
			return
		}
		again := m.Append(nil)
		if n, err := Parse(string(again[:len(again)-1])); err != nil || !cut(m, n) {
			t.Errorf("%q: %q: %v", line, again, err)
		}
	})
}

// cut: long texts are cut when they are sent.
func cut(m, n Message) bool {
	for _, p := range []*string{&m.Why, &m.Op.Call, &m.Op.Place, &m.Op.Within, &m.State.Doing, &m.State.Place} {
		if len(*p) > maxText {
			return true
		}
	}
	return m == n || strings.ContainsRune(m.Why+m.Op.Call+m.Op.Place+m.Op.Within+m.State.Doing+m.State.Place, '\ufffd')
}

// The end of a stream may mean something, once.
func TestConnLast(t *testing.T) {
	died := Message{Kind: Exit, Rank: 0, How: Died}
	finished := Message{Kind: Exit, Rank: 0, How: Finished}
	other := Message{Kind: Exit, Rank: 1, How: Finished}
	for name, c := range map[string]struct {
		sent, want []Message
		rest       string // of a line
	}{
		"it ended":          {[]Message{other}, []Message{other, died}, ""},
		"in mid-line":       {[]Message{other}, []Message{other}, "exit 1"},
		"it had said so":    {[]Message{finished}, []Message{finished}, ""},
		"it said all of it": {nil, []Message{died}, ""},
	} {
		a, b := net.Pipe()
		go func() {
			_ = NewConn(a).Send(10*time.Second, c.sent...)
			_, _ = io.WriteString(a, c.rest)
			_ = a.Close()
		}()
		conn := NewConn(b)
		conn.Last(died)
		var got []Message
		for {
			m, err := conn.Receive()
			if err != nil {
				break
			}
			got = append(got, m)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		_ = b.Close()
	}
	// Whoever closes it hears nothing more.
	a, b := net.Pipe()
	defer func() { _ = a.Close() }()
	conn := NewConn(b)
	conn.Last(died)
	_ = conn.Close()
	if m, err := conn.Receive(); err == nil {
		t.Error(m)
	}
}
