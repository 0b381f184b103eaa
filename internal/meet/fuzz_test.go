package meet

import (
	"bufio"
	"bytes"
	"testing"
	"time"
)

// Whatever somebody says who has the secret: it is a hello, or an error.
func FuzzHello(f *testing.F) {
	line, _ := hello{job: "a b\n=", rank: 3, size: 8, within: time.Minute}.message().Format()
	f.Add(line)
	f.Add([]byte("cmd=meet protocol=1 job= rank=-1 size=0 within=-5\n"))
	f.Add([]byte("cmd=meet protocol=2\n"))
	f.Add(bytes.Repeat([]byte("x"), 2*maxLine))
	f.Fuzz(func(t *testing.T, said []byte) {
		m, err := hear(bufio.NewReaderSize(bytes.NewReader(said), maxLine))
		if err != nil {
			return
		}
		h, err := readHello(m)
		if err != nil {
			return
		}
		if h.within < 0 || h.within > maxTimeout {
			t.Fatalf("%q: %v", said, h.within)
		}
		if h.job != "" && len(h.job) > 200 {
			return // cut when it is written
		}
		again, err := readHello(h.message())
		if err != nil || again.rank != h.rank || again.size != h.size || again.within != h.within || again.job != h.job {
			t.Fatalf("%q: %+v, written and read %+v, %v", said, h, again, err)
		}
	})
}

// Whatever rank 0 answers: it is consent, a refusal, or an error.
func FuzzResult(f *testing.F) {
	for _, r := range []*RefusedError{nil, {Why: "because a=b"}, {Why: "later", again: true}} {
		line, _ := result(r).Format()
		f.Add(line)
	}
	f.Add([]byte("cmd=meet_result rc=x\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		m, err := hear(bufio.NewReaderSize(bytes.NewReader(said), maxLine))
		if err != nil {
			return
		}
		err = readResult(m)
		if rc, rcErr := m.Int("rc"); err == nil && (m.Cmd != "meet_result" || rc != 0 || rcErr != nil) {
			t.Fatalf("%q was taken for consent", said)
		}
	})
}
