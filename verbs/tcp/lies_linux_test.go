package tcp

import (
	"bytes"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// rail makes a further connection to the node's queue pair.
func (p *peer) rail(number int) *peer {
	p.t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	r := &peer{p.t, p.n, fds[1]}
	p.t.Cleanup(r.close)
	p.n.dev.admit(link{fd: fds[0], local: lastLabel, remote: lastLabel + 1, rail: number, via: "the test"})
	return r
}

// A peer that answers a read over several connections, in pieces, with parts that overlap, come
// twice, too early or too late, and ends of it and of the connections at any time, while this end
// gives the read or the queue pair up: when the completion has been polled the memory is the
// user's, and no byte beside it ever changes.
func TestLyingAnswers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	seeds := uint64(120)
	if testing.Short() {
		seeds = 40
	}
	ends := map[verbs.Status]int{}
	for seed := range seeds {
		n := newNode(t, Config{}, tuning{inlineRecv: 64, buffer: 256, recvMost: 160, directLeast: 64})
		ends[lyingAnswers(t, n, rand.New(rand.NewPCG(seed, 3)))]++
		if err := n.dev.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Log(ends)
	for _, s := range []verbs.Status{verbs.StatusOK, verbs.StatusAborted, verbs.StatusRemoteAccess, verbs.StatusFlushed, verbs.StatusCorrupt} {
		if ends[s] == 0 {
			t.Errorf("no read has ended with %v: %v", s, ends)
		}
	}
}

func lyingAnswers(t *testing.T, n *node, rng *rand.Rand) (end verbs.Status) {
	const before, size = 500, 5000
	all := make([]byte, before+size+before)
	p := newPeer(t, n, 1000)
	ways := []*peer{p, p.rail(1), p.rail(2)}
	wr := []verbs.SendWR{{ID: 9, Op: verbs.OpRead, Flags: verbs.Signaled, Data: all[before:][:size], Remote: verbs.Remote{Addr: 1, Key: 2}}}
	if k, err := n.qp.PostSend(wr); k != 1 || err != nil {
		t.Fatal(k, err)
	}
	said := p.read()
	h, err := parseHeader(said[headerSize+helloSize:])
	if err != nil || h.kind != kindRead {
		t.Fatal(h, err)
	}
	polled := false
	poll := func() {
		for _, c := range n.poll() {
			if c.Op == verbs.OpRead {
				polled, end = true, c.Status
				copy(all, bytes.Repeat([]byte{0x77}, len(all)))
			}
		}
		for i, b := range all {
			if polled && b != 0x77 {
				t.Fatalf("byte %d is written after the completion (%v)", i-before, end)
			}
			if !polled && b != 0 && (i < before || i >= before+size) {
				t.Fatalf("byte %d is written, which is none of the read's", i-before)
			}
		}
	}
	honest := rng.IntN(2) == 0
	sent := 0
	var rest [3][]byte
	for range 150 {
		i := rng.IntN(len(ways))
		if len(rest[i]) == 0 {
			rest[i] = lie(rng, h, honest, i == 0, &sent, size)
		}
		if k, err := send(ways[i].fd, rest[i][:min(len(rest[i]), 1+rng.IntN(600))]); err == nil {
			rest[i] = rest[i][k:]
		}
		switch rng.IntN(400) {
		case 0, 1:
			n.qp.Abort(9)
		case 2:
			_ = n.qp.Close()
		case 3:
			_ = unix.Shutdown(ways[i].fd, unix.SHUT_WR)
		}
		poll()
	}
	_ = n.qp.Close()
	for range 10 {
		poll()
	}
	for i, w := range ways {
		_, _ = send(w.fd, rest[i])
		poll()
	}
	if poll(); !polled {
		t.Fatal("the read has not completed")
	}
	return end
}

// lie is a frame that says something of a read, mostly what it may.
func lie(rng *rand.Rand, asked header, honest, first bool, sent *int, size int) []byte {
	word := asked.word
	switch k := rng.IntN(40); {
	case honest || k < 34:
		length := min(1+rng.IntN(900), size-*sent)
		at := *sent
		if !honest && rng.IntN(4) == 0 {
			length = 1 + rng.IntN(900)
			at = rng.IntN(size - length + 1)
		} else {
			*sent += length
		}
		if length == 0 {
			if honest && rng.IntN(20) != 0 {
				return nil
			}
			length = 1 + rng.IntN(8)
		}
		return append(frame(kindData, 0, uint32(length), word|uint64(at)), bytes.Repeat([]byte{1}, align8(length))...)
	case k < 37 && first:
		s := verbs.StatusRemoteAccess
		if rng.IntN(4) == 0 {
			s = verbs.StatusAborted
		}
		return frame(kindEnd, uint8(s), 0, word|uint64(*sent))
	case k < 38:
		return frame(kindBye, 0, 0, 0)
	case k < 39:
		return frame(kindData, 0, 8, word^1<<offsetBits, make([]byte, 8)...)
	}
	return []byte{}
}

// What is under way over one connection counts when the rest comes over another: a read isn't
// over before all of that is there, or will never be.
func TestPartUnderWay(t *testing.T) {
	const size = 4000
	for _, c := range []struct {
		name string
		then func(word uint64) []byte // over the first connection, while half a part is under way
	}{
		{"all of it again", func(w uint64) []byte {
			return append(frame(kindData, 0, size, w), bytes.Repeat([]byte{1}, size)...)
		}},
		{"an end before that part", func(w uint64) []byte { return frame(kindEnd, uint8(verbs.StatusRemoteAccess), 0, w) }},
		{"an end behind it", func(w uint64) []byte { return frame(kindEnd, uint8(verbs.StatusRemoteAccess), 0, w|1000) }},
		{"an end of the stream", func(uint64) []byte { return frame(kindBye, 0, 0, 0) }},
		{"no frame", func(uint64) []byte { return make([]byte, headerSize) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t, Config{}, normal)
			p := newPeer(t, n, 1000)
			r := p.rail(1)
			many := func() (got []verbs.Completion) { // more than one look at all connections
				for range 2 * wideEvery {
					got = append(got, p.polled()...)
				}
				return got
			}
			data := make([]byte, size)
			wr := []verbs.SendWR{{ID: 9, Op: verbs.OpRead, Flags: verbs.Signaled, Data: data, Remote: verbs.Remote{Addr: 1, Key: 2}}}
			if k, err := n.qp.PostSend(wr); k != 1 || err != nil {
				t.Fatal(k, err)
			}
			h, err := parseHeader(p.read()[headerSize+helloSize:])
			if err != nil {
				t.Fatal(err)
			}
			r.write(append(frame(kindData, 0, 1000, h.word), bytes.Repeat([]byte{1}, 500)...))
			if got := many(); len(got) != 0 || data[499] != 1 {
				t.Fatalf("half a part brings %+v", got)
			}
			p.write(c.then(h.word))
			over := func(got []verbs.Completion) bool {
				for _, c := range got {
					if c.Op == verbs.OpRead {
						return true
					}
				}
				return false
			}
			done := over(many())
			if done {
				clear(data)
			}
			_, _ = send(r.fd, bytes.Repeat([]byte{2}, 500))
			more := over(many())
			if done == more {
				t.Fatalf("the read has ended before the rest of the part: %v, and after it: %v", done, more)
			}
			if done && !bytes.Equal(data, make([]byte, size)) {
				t.Error("memory is written that is the user's again")
			}
		})
	}
}
