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

// batch is what was reaped at one time.
type batch struct {
	exits []exit
	dying []int // ranks that are about to follow
}

// reaper waits for all children of this process: the ranks, and what they
// left behind. Nothing else in the process may wait for children meanwhile.
type reaper struct {
	exits chan batch
	none  chan struct{} // closed when there are no children left
	stop  chan struct{}

	// mu is held while children are reaped and while signals are sent, so that
	// no signal goes to a pid that has been given away.
	mu     sync.Mutex
	deaths *deaths
	live   map[int]bool // pids of ranks
}

func newReaper(ranks []*rank) *reaper {
	r := &reaper{
		exits: make(chan batch), none: make(chan struct{}), stop: make(chan struct{}),
		deaths: newDeaths(), live: map[int]bool{},
	}
	for _, k := range ranks {
		r.deaths.watch(k)
		r.live[k.pid] = true
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
		b := r.reap()
		if len(b.exits) == 0 {
			continue
		}
		select {
		case r.exits <- b:
		case <-r.stop:
			return
		}
	}
}

// reap takes all that have ended.
func (r *reaper) reap() batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b batch
	ask := false
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		b.exits = append(b.exits, exit{pid, ws})
		ask = ask || r.live[pid] && ws != 0
		delete(r.live, pid)
	}
	if ask {
		for pid := range r.live {
			if dying(pid) {
				b.dying = append(b.dying, pid)
			}
		}
	}
	r.deaths.look()
	r.deaths.sort(b.exits)
	return b
}

// dying says whether a rank has ended, or has begun to.
func (r *reaper) dying(pid int) bool {
	r.mu.Lock() // or it might be reaped meanwhile, and its pid given away
	defer r.mu.Unlock()
	return !r.live[pid] || dying(pid)
}

// sort puts exits of several batches in the order of death.
func (r *reaper) sort(exits []exit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaths.sort(exits)
}
