//go:build linux

package shm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// victim is a process that stops or dies in the middle of something
// (testdata/victim).
type victim struct {
	t    *testing.T
	cmd  *exec.Cmd
	errs bytes.Buffer
	eof  chan struct{}

	mu    sync.Mutex
	lines int // besides its address
}

var victimDir string

var buildVictim = sync.OnceValues(func() (path string, err error) {
	if victimDir, err = os.MkdirTemp("", "verbena-victim"); err != nil {
		return "", err
	}
	path = filepath.Join(victimDir, "victim")
	out, err := exec.Command("go", "build", "-tags", "verbena_steps", "-o", path, "./testdata/victim").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("building the victim: %w\n%s", err, out)
	}
	return path, err
})

// removeVictim is called after all tests.
func removeVictim() {
	if victimDir != "" {
		_ = os.RemoveAll(victimDir)
	}
}

// start runs a victim, connected to a new queue pair of n.
func (n *node) start(t *testing.T, what string, args ...any) (*victim, *qp) {
	t.Helper()
	path, err := buildVictim()
	if err != nil {
		t.Fatal(err)
	}
	list := []string{what, hex.EncodeToString(n.d.Addr())}
	for _, a := range args {
		list = append(list, fmt.Sprint(a))
	}
	v := &victim{t: t, cmd: exec.Command(path, list...), eof: make(chan struct{})}
	v.cmd.Stderr = &v.errs
	stdin, err := v.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	go func() {
		defer close(v.eof)
		defer close(address)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			if len(s.Text()) > 20 {
				address <- s.Text()
				continue
			}
			v.mu.Lock()
			v.lines++
			v.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = v.cmd.Process.Kill()
		<-v.eof
		_ = v.cmd.Wait()
	})
	addr, err := hex.DecodeString(<-address)
	if err != nil || len(addr) == 0 {
		t.Fatalf("the victim says no address: %v %s", err, &v.errs)
	}
	q := n.newQP()
	if err := q.Connect(addr, 2, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(stdin, "go"); err != nil {
		t.Fatal(err)
	}
	return v, q
}

func (v *victim) reported() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.lines
}

// state is the process's in /proc: R, S, T (stopped), Z (dead) …
func (v *victim) state() string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", v.cmd.Process.Pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:1]
}

// nap sleeps as a driver does: armed, until the bell rings, or for a moment.
func (n *node) nap() {
	again := n.scq.Arm(verbs.Any)
	if again = n.rcq.Arm(verbs.Any) || again; !again {
		p := []unix.PollFd{{Fd: int32(n.d.bell.fd), Events: unix.POLLIN}}
		_, _ = unix.Poll(p, 5)
	}
	n.scq.Arm(verbs.None)
	n.rcq.Arm(verbs.None)
}

// survive polls and naps until cond holds.
func (n *node) survive(what string, v *victim, cond func() bool) {
	n.t.Helper()
	end := time.Now().Add(limit)
	for !cond() {
		n.poll()
		n.nap()
		if time.Now().After(end) {
			n.t.Fatalf("still waiting for %s: %d messages, ends %v, victim %s has reported %d, %s",
				what, len(n.got), n.ends, v.state(), v.reported(), &v.errs)
		}
	}
}

var stepNames = [Steps]string{"cell", "claimed", "copied", "published", "bell"}

// A peer that dies, or stops and then dies, at any marked point of a send: what it
// had published arrives, its end is reported once, its slots come back, and others
// are not disturbed.
func TestVictimSends(t *testing.T) {
	for step, name := range stepNames {
		for _, size := range []int{40, 200} {
			if step == stepCell && size > cellMax || step == stepClaimed && size <= cellMax {
				continue // the other kind of message passes there
			}
			for _, shared := range []bool{true, false} {
				for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
					t.Run(fmt.Sprintf("%s/%d bytes/shared %v/%v", name, size, shared, sig), func(t *testing.T) {
						victimSends(t, step, size, shared, sig)
					})
				}
			}
		}
	}
}

func victimSends(t *testing.T, step, size int, shared bool, sig syscall.Signal) {
	rc := few
	rc.Shared = shared
	s, o := newNode(t, Config{}, rc), newNode(t, Config{}, few)
	qo, oq := join(s, o)
	v, qv := s.start(t, "send", size, step, int(sig))
	if sig == syscall.SIGSTOP {
		s.survive("the victim to stop", v, func() bool { return v.state() == "T" })
		s.besideStopped(v, qv, qo, oq, o)
		if err := v.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	s.survive("the end", v, func() bool { return len(s.ends) > 0 })
	<-v.eof
	want := v.reported()
	if step >= stepPublished {
		want++ // it had no time to report it
	}
	for range 100 {
		s.poll()
	}
	s.checkMessages(qv.num, want, size)
	if d := cmp.Diff([]end{{qv.num, verbs.StatusPeerDead}}, s.ends, cmp.AllowUnexported(end{})); d != "" {
		t.Errorf("ends (-want +got)\n%s", d)
	}
	if _, err := qv.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Data: []byte("x")}}); err == nil {
		t.Error("sent to the dead")
	}
	s.allPosted()
	talk(s, o, qo, oq)
	s.hold = true
	for i := range rc.Slots {
		if !oq.post(t, message(i, 200), 0) {
			t.Fatalf("the other peer got %d of %d slots", i, rc.Slots)
		}
	}
	if err := qv.Close(); err != nil {
		t.Error(err)
	}
}

// besideStopped checks that a peer that has stopped blocks nobody.
func (n *node) besideStopped(v *victim, qv, qo, oq *qp, o *node) {
	n.t.Helper()
	begin := time.Now()
	for range 20 {
		talk(n, o, qo, oq)
	}
	sent := 0
	for qv.post(n.t, message(sent, 8), 0) {
		sent++
	}
	if sent > ringCells {
		n.t.Errorf("a stopped peer took %d messages", sent)
	}
	n.nap() // armed, with a request that found no room
	n.checkReads(o, qo, oq)
	if took := time.Since(begin); took > limit/2 {
		n.t.Errorf("beside a stopped peer it all took %v", took)
	}
	if len(n.ends) != 0 || v.state() != "T" {
		n.t.Errorf("ends %v, the victim is in state %s", n.ends, v.state())
	}
}

// A peer that stops, and then dies, in the middle of reading: others' reads go on,
// its chunks come back, and its registrations can be closed.
func TestVictimReads(t *testing.T) {
	for _, w := range []Way{Stream, Copy, Direct} {
		t.Run(w.String(), func(t *testing.T) {
			const size = 8 << 20
			s := newNode(t, Config{Read: Stream}, few)
			others := []*node{newNode(t, Config{Read: Stream, NoSingleCopy: true}, few), newNode(t, Config{Read: w}, few)}
			var qs, qo [2]*qp
			for i, o := range others {
				qs[i], qo[i] = join(s, o)
			}
			mem, err := s.d.Alloc(size)
			if err != nil {
				t.Fatal(err)
			}
			for round := range 4 {
				m, err := s.d.Register(mem, verbs.AccessRead)
				if err != nil {
					t.Fatal(err)
				}
				s.ends = nil
				v, qv := s.start(t, "read", w, m.Addr(), m.Key(), size)
				s.survive("some reads", v, func() bool { return v.reported() > round })
				if err := v.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				s.survive("the victim to stop", v, func() bool { return v.state() == "T" })
				for range 200 { // it is served as far as it goes
					s.poll()
				}
				for i, o := range others {
					s.reads, o.reads = map[uint64]verbs.Status{}, map[uint64]verbs.Status{}
					s.checkReads(o, qs[i], qo[i])
				}
				if err := v.cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				if round%2 == 0 { // not even after the end is known
					s.survive("the end", v, func() bool { return len(s.ends) > 0 })
				}
				closed := make(chan error, 1)
				go func() { closed <- m.Close() }()
				select {
				case err := <-closed:
					if err != nil {
						t.Error(err)
					}
				case <-time.After(limit):
					t.Fatal("Close waits for a dead reader")
				}
				s.survive("the end", v, func() bool { return len(s.ends) > 0 })
				if len(s.d.serves) != 0 || s.d.work.Load() != 0 {
					t.Errorf("%d serves are left, work %d", len(s.d.serves), s.d.work.Load())
				}
				for _, q := range s.d.qps {
					s.d.chunk.collect(q)
				}
				for i, l := range s.d.chunk.at {
					if l.units != 0 {
						t.Errorf("chunk %d is still lent", i)
					}
				}
				if err := qv.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A peer that stops, and then dies, while it is read from: single-copy and direct
// reads go on while it is stopped, streamed ones when it goes on; what is not over
// at its death ends with StatusPeerDead, and its memory isn't touched any more.
func TestVictimIsRead(t *testing.T) {
	const size = 8 << 20
	want := make([]byte, size)
	for i := range want {
		want[i] = byte(i * 7)
	}
	for _, v := range []struct {
		way        Way
		noCopy     bool
		mapped     bool
		stoppedToo bool // it can be read while it is stopped
	}{
		{way: Direct, mapped: true, stoppedToo: true},
		{way: Copy, stoppedToo: true},
		{way: Auto, stoppedToo: true},
		{way: Stream},
		{way: Auto, noCopy: true},
	} {
		t.Run(fmt.Sprintf("%v/no copy %v", v.way, v.noCopy), func(t *testing.T) {
			s := newNode(t, Config{Read: v.way, NoSingleCopy: v.noCopy}, few)
			for round := range 3 {
				s.got, s.ends, s.reads = nil, nil, map[uint64]verbs.Status{}
				vic, q := s.start(t, "serve", size)
				s.survive("the addresses", vic, func() bool { return len(s.got) == 2 })
				where := []byte(s.got[0].data)
				if v.mapped {
					where = []byte(s.got[1].data)
				}
				from := verbs.Remote{Addr: binary.LittleEndian.Uint64(where), Key: binary.LittleEndian.Uint64(where[8:])}
				read := func(id uint64) []byte {
					dst := make([]byte, size)
					wr := []verbs.SendWR{{ID: id, Op: verbs.OpRead, Flags: verbs.Signaled, Data: dst, Remote: from}}
					if _, err := q.PostSend(wr); err != nil {
						t.Fatal(err)
					}
					return dst
				}
				dst := read(1)
				s.survive("a read", vic, func() bool { return len(s.reads) == 1 })
				if s.reads[1] != verbs.StatusOK || !bytes.Equal(dst, want) {
					t.Fatalf("a read of a living peer: %v", s.reads[1])
				}
				if round == 2 { // killed in the middle
					dst = read(2)
					s.poll()
					_ = vic.cmd.Process.Kill()
					s.survive("the ends", vic, func() bool { return len(s.ends) > 0 && len(s.reads) == 2 })
					s.checkReadAtEnd(dst, want)
					break
				}
				if err := vic.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				s.survive("the victim to stop", vic, func() bool { return vic.state() == "T" })
				dst = read(2)
				if v.stoppedToo {
					s.survive("a read of a stopped peer", vic, func() bool { return len(s.reads) == 2 })
				} else {
					for range 50 {
						s.poll()
					}
				}
				if round == 0 {
					if err := vic.cmd.Process.Signal(syscall.SIGCONT); err != nil {
						t.Fatal(err)
					}
					s.survive("the read", vic, func() bool { return len(s.reads) == 2 })
					if s.reads[2] != verbs.StatusOK || !bytes.Equal(dst, want) {
						t.Errorf("a read of a peer that was stopped: %v", s.reads[2])
					}
				}
				_ = vic.cmd.Process.Kill()
				s.survive("the ends", vic, func() bool { return len(s.ends) > 0 && len(s.reads) == 2 })
				s.checkReadAtEnd(dst, want)
				if s.d.work.Load() != 0 || s.d.streaming != 0 || len(s.d.freeRd) != maxReads {
					t.Errorf("left: work %d, %d streaming, %d free", s.d.work.Load(), s.d.streaming, len(s.d.freeRd))
				}
				if err := q.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// checkReadAtEnd checks that the read of a peer that died ended once, well and whole
// or with the death, and that nothing is written afterwards.
func (n *node) checkReadAtEnd(dst, want []byte) {
	n.t.Helper()
	switch s := n.reads[2]; s {
	case verbs.StatusOK:
		if !bytes.Equal(dst, want) {
			n.t.Error("a read ended well with wrong bytes")
		}
	case verbs.StatusPeerDead:
	default:
		n.t.Errorf("a read of a peer that died: %v", s)
	}
	for i := range dst {
		dst[i] = 0xaa
	}
	for range 100 {
		n.poll()
	}
	if c := bytes.Count(dst, []byte{0xaa}); c != len(dst) {
		n.t.Errorf("%d bytes were written after the read's end", len(dst)-c)
	}
	if len(n.ends) != 1 || n.ends[0].status != verbs.StatusPeerDead {
		n.t.Errorf("ends %v", n.ends)
	}
}
