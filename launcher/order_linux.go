package launcher

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// deaths knows in which order ranks died. wait4 doesn't: it has an order of
// its own, and a process can be waited for only at the very end of its death,
// when a peer that saw its connections close may already have exited too, and
// be done with that sooner.
//
// Descriptors of an epoll become ready in the order of what happened to them.
// Two are watched for each rank: its pidfd, and our end of its lifeline, a pipe
// that it holds and knows nothing of. When a process dies its descriptors are
// released from the highest number down, so the lifeline has a high one: it ends
// before any connection through which others could hear of the death.
type deaths struct {
	epoll int           // or -1: nothing is known
	pids  map[int32]int // of the rank, by descriptor
	seq   map[int]int   // when a rank's first sign of death came, by pid
}

func newDeaths() *deaths {
	d := &deaths{epoll: -1, pids: map[int32]int{}, seq: map[int]int{}}
	if fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		d.epoll = fd
	}
	return d
}

func (d *deaths) watch(r *rank) {
	d.add(r.pidfd, r.pid, unix.EPOLLIN)
	d.add(r.life, r.pid, unix.EPOLLHUP)
}

// lifelineFD is the least number of the lifeline's end in a rank.
const lifelineFD = 1000

// lifeline makes the pipe. The end that the next child inherits, under its own
// number, is to be closed after its start. Without one (limited descriptors) the
// order is less certain.
func lifeline() (ours, theirs int) {
	var fds [2]int
	if unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK) != nil {
		return -1, -1
	}
	theirs, err := unix.FcntlInt(uintptr(fds[1]), unix.F_DUPFD, lifelineFD)
	_ = unix.Close(fds[1])
	if err != nil {
		_ = unix.Close(fds[0])
		return -1, -1
	}
	return fds[0], theirs
}

func (d *deaths) add(fd, pid int, events uint32) {
	if fd < 0 || d.epoll < 0 {
		return
	}
	// Edge-triggered: each is listed once.
	ev := unix.EpollEvent{Events: events | unix.EPOLLET, Fd: int32(fd)}
	if unix.EpollCtl(d.epoll, unix.EPOLL_CTL_ADD, fd, &ev) == nil {
		d.pids[int32(fd)] = pid
	}
}

// look notes what has happened since the last time.
func (d *deaths) look() {
	if len(d.pids) == 0 {
		return
	}
	events := make([]unix.EpollEvent, len(d.pids))
	n, _ := unix.EpollWait(d.epoll, events, 0)
	for _, ev := range events[:max(n, 0)] {
		pid := d.pids[ev.Fd]
		if _, ok := d.seq[pid]; !ok {
			d.seq[pid] = len(d.seq)
		}
	}
}

// number notes in each exit when it came, and puts them in that order. What isn't
// known comes last.
func (d *deaths) number(exits []exit) {
	for i := range exits {
		n, ok := d.seq[exits[i].Pid]
		if !ok {
			n = math.MaxInt32
		}
		exits[i].Seq = n
	}
	sortDeaths(exits)
}

// sortDeaths puts exits of one host in the order of death.
func sortDeaths(exits []exit) {
	slices.SortStableFunc(exits, func(a, b exit) int { return a.Seq - b.Seq })
}

// dying says whether a process has begun to exit. Of several threads the first
// counts: the process's files are closed by the last.
func dying(pid int) bool {
	const (
		flagsField = 6 // after the name
		exiting    = 0x4
	)
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, after, _ := cutLast(string(b), ")") // a name may hold anything
	f := strings.Fields(after)
	if len(f) <= flagsField {
		return false
	}
	flags, err := strconv.ParseUint(f[flagsField], 10, 64)
	return err == nil && flags&exiting != 0
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
