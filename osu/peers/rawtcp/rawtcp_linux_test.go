package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// Both sides of both benchmarks end, over a socket that takes little at a time, and
// what one side writes the other has read.
func TestBench(t *testing.T) {
	for _, name := range []string{"latency", "bw"} {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range fds {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 4096)
		}
		const size = 100_000
		var sides [2]bench
		var g errgroup.Group
		for i := range sides {
			b := &sides[i]
			*b = bench{s: socket(fds[i]), first: i == 0, window: 3, buf: make([]byte, size)}
			if b.first {
				copy(b.buf, strings.Repeat("ab", size/2))
			}
			round := b.pingPong
			if name == "bw" {
				round = b.stream
			}
			g.Go(func() error {
				took, err := b.time(round, size, 1, 5)
				if err == nil && (took <= 0 || took > time.Minute) {
					t.Errorf("%s: it took %v", name, took)
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if string(sides[0].buf[1:]) != string(sides[1].buf[1:]) {
			t.Errorf("%s: other bytes arrived", name)
		}
		sides[0].s.close()
		if err := sides[1].s.recvAll(make([]byte, 1)); err != io.ErrUnexpectedEOF {
			t.Errorf("the other end was closed: %v", err)
		}
		sides[1].s.close()
	}
}

func TestParse(t *testing.T) {
	o, err := parse(strings.Fields("-b bw -m 8:64 -i 3 -x 0 -W 4 -d 4 -T 70 -congestion reno"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if want := (options{bench: "bw", min: 8, max: 64, iterations: 3, window: 4, decimals: 4, congestion: "reno"}); *o != want {
		t.Errorf("%+v, want %+v", *o, want)
	}
	if w, i := o.counts(64); w != 0 || i != 3 {
		t.Errorf("%d and %d iterations", w, i)
	}
	if o, err = parse([]string{"-m", "16"}, io.Discard); err != nil || o.min != 1 || o.max != 16 {
		t.Errorf("%+v, %v", o, err)
	}
	if w, i := o.counts(large + 1); w != 10 || i != 1000 {
		t.Errorf("%d and %d iterations", w, i)
	}
	for _, bad := range []string{"-b bibw", "-m 0:8", "-m 8:4", "-m x", "-m 2000000000", "-W 0", "-i -1", "more"} {
		if _, err := parse(strings.Fields(bad), io.Discard); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}
