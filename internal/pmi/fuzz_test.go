package pmi

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"
)

// script is a connection whose other side says what it likes and hears all.
type script struct {
	io.Reader
	heard bytes.Buffer
}

func (s *script) Write(p []byte) (int, error)      { return s.heard.Write(p) }
func (s *script) Close() error                     { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// Whatever Parse accepts, apart from a multi-line request's first line, can be
// formatted and parsed again.
func FuzzParse(f *testing.F) {
	f.Add([]byte("cmd=init pmi_version=1 pmi_subversion=1\n"))
	f.Add([]byte("cmd=get_result rc=0 value=(vector,(0,1,4))"))
	f.Add([]byte("mcmd=spawn\n"))
	f.Add([]byte("cmd=a =\x00"))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := Parse(line)
		if err != nil {
			return
		}
		b, err := m.Format()
		if err != nil {
			t.Fatalf("%q parsed as %+v, which can't be written: %v", line, m, err)
		}
		if _, err := Parse(b); err != nil {
			t.Fatalf("%q became %q: %v", line, b, err)
		}
	})
}

// No rank can make the server do more than refuse.
func FuzzServer(f *testing.F) {
	f.Add([]byte("cmd=init pmi_version=1 pmi_subversion=1\ncmd=barrier_in\ncmd=finalize\n"))
	f.Add([]byte("cmd=init pmi_version=1\ncmd=put kvsname=f key=a value=b\ncmd=get kvsname=f key=a\ncmd=abort exitcode=x\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		s := NewServer("f", 1, ignore{})
		c := &script{Reader: bytes.NewReader(said)}
		_ = s.Serve(0, c)
		lines := newLineReader(&c.heard)
		for {
			line, err := lines.next()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Parse(line); err != nil {
				t.Fatalf("the server said %q: %v", line, err)
			}
		}
	})
}

type ignore struct{}

func (ignore) Abort(int, int, string) {}
func (ignore) Stuck(int, int)         {}

// No launcher can make a rank do more than fail.
func FuzzClient(f *testing.F) {
	f.Add([]byte("cmd=response_to_init rc=0 pmi_version=1\ncmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\ncmd=my_kvsname kvsname=f\ncmd=get_result value=v\ncmd=barrier_out\n"))
	f.Add([]byte("cmd=initack\ncmd=set size=4\ncmd=set rank=1\ncmd=set debug=0\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		ctx := context.Background()
		c := NewClient(0, &script{Reader: bytes.NewReader(said)})
		_ = c.Init(ctx)
		_, _ = c.GetMaxes(ctx)
		_, _ = c.KVSName(ctx)
		_, _ = c.Get(ctx, "f", "k")
		_ = c.Barrier(ctx)
		rank, size, err := InitAck(ctx, &script{Reader: bytes.NewReader(said)}, "0")
		if err == nil && (rank < 0 || rank >= size) {
			t.Fatalf("rank %d of %d", rank, size)
		}
	})
}
