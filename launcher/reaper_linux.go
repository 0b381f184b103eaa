package launcher

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// exit is a child that has ended, and was reaped.
type exit struct {
	pid    int
	status syscall.WaitStatus
}

// reaper waits for all children of this process: the ranks, and what they
// left behind. Nothing else in the process may wait for children meanwhile.
type reaper struct {
	// mu is held while children are reaped and while signals are sent, so that
	// no signal goes to a pid that has been given away.
	mu sync.Mutex

	exits chan []exit   // batches, in the order of death as far as it is known
	none  chan struct{} // closed when there are no children left
	stop  chan struct{}

	epoll int         // over the ranks' pidfds, or -1
	pids  map[int]int // by pidfd
}

func newReaper(ranks []*rank) *reaper {
	r := &reaper{exits: make(chan []exit), none: make(chan struct{}), stop: make(chan struct{}), epoll: -1, pids: map[int]int{}}
	// Descriptors that become ready are listed in that order, which is the
	// order of death; wait4 has an order of its own.
	if fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		r.epoll = fd
	}
	for _, k := range ranks {
		if k.pidfd < 0 || r.epoll < 0 {
			continue
		}
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(k.pidfd)}
		if unix.EpollCtl(r.epoll, unix.EPOLL_CTL_ADD, k.pidfd, &ev) == nil {
			r.pids[k.pidfd] = k.pid
		}
	}
	return r
}

// run reports exits until there are no children or nobody listens. It blocks
// a thread.
func (r *reaper) run() {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil { // ECHILD
			close(r.none)
			return
		}
		batch := r.reap()
		if len(batch) == 0 {
			continue
		}
		select {
		case r.exits <- batch:
		case <-r.stop:
			return
		}
	}
}

// reap takes all that have ended.
func (r *reaper) reap() []exit {
	r.mu.Lock()
	defer r.mu.Unlock()
	died := r.order()
	status := map[int]syscall.WaitStatus{}
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		status[pid] = ws
		if !contains(died, pid) {
			died = append(died, pid)
		}
	}
	batch := make([]exit, 0, len(died))
	for _, pid := range died {
		if ws, ok := status[pid]; ok {
			batch = append(batch, exit{pid, ws})
		}
	}
	return batch
}

// order lists ranks that have died, in that order.
func (r *reaper) order() []int {
	if r.epoll < 0 || len(r.pids) == 0 {
		return nil
	}
	events := make([]unix.EpollEvent, len(r.pids))
	n, _ := unix.EpollWait(r.epoll, events, 0)
	var died []int
	for _, ev := range events[:max(n, 0)] {
		died = append(died, r.pids[int(ev.Fd)])
	}
	return died
}

func contains(list []int, x int) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}
