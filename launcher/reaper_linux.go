package launcher

import (
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// exit is a process that has ended, and was reaped: here, or by an agent on
// another host.
type exit struct {
	Rank   int // or -1: left behind by one
	Pid    int
	Status syscall.WaitStatus
	Seq    int // the order in which ranks of one host died

	// Of an agent's rank.
	Crash []byte // its last words (link.lastWords)
	Taken int64  // bytes of its standard input that it has read, if that is known
}

// batch is what was reaped at one time.
type batch struct {
	Exits []exit
	Dying []int // ranks that are about to follow
}

// reaper waits for all children of this process: the ranks, what they left
// behind, and the starters of agents. Nothing else in the process may wait for
// children meanwhile.
type reaper struct {
	ready chan struct{} // there is something to take
	none  chan struct{} // closed when there are no children left but starters
	more  chan struct{} // something was started
	stop  chan struct{}

	// mu is held while children are reaped and while signals are sent, so that
	// no signal goes to a pid that has been given away.
	mu       sync.Mutex
	deaths   *deaths
	live     map[int]int                       // rank by pid
	starters map[int]chan<- syscall.WaitStatus // by pid; each has room for one
	batches  []batch
	sealed   bool // all ranks have been started
	noted    bool // none is closed
	runs     sync.Once
}

func newReaper() *reaper {
	return &reaper{
		ready: make(chan struct{}, 1), none: make(chan struct{}), more: make(chan struct{}, 1), stop: make(chan struct{}),
		deaths: newDeaths(), live: map[int]int{}, starters: map[int]chan<- syscall.WaitStatus{},
	}
}

// watch takes a rank that has just been started. The lock was held meanwhile.
func (r *reaper) watch(k *rank) {
	r.deaths.watch(k)
	r.live[k.pid] = k.id
	wake(r.more)
}

// watchStarter takes a starter that has just been started. The lock was held
// meanwhile. Its status will be in ended, which has room for it.
func (r *reaper) watchStarter(pid int, ended chan<- syscall.WaitStatus) {
	r.starters[pid] = ended
	wake(r.more)
}

// seal says that no more ranks will be started.
func (r *reaper) seal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sealed = true
	r.note()
	wake(r.more)
}

// note closes none if all that ranks were and left is gone. The lock is held.
// What a child has started is our child by the time that we reap it.
func (r *reaper) note() {
	if r.noted || !r.sealed || len(r.live) > 0 {
		return
	}
	if slices.ContainsFunc(children(), func(pid int) bool { return r.starters[pid] == nil }) {
		return
	}
	r.noted = true
	close(r.none)
}

// wake puts a word into a channel with room for one, unless there is one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// begin starts reaping, if that isn't going on.
func (r *reaper) begin() { r.runs.Do(func() { go r.run() }) }

// run reaps until nobody wants to know. It blocks a thread.
func (r *reaper) run() {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		r.mu.Lock()
		if b := r.reap(); len(b.Exits) > 0 {
			r.batches = append(r.batches, b)
			wake(r.ready)
		}
		r.note()
		r.mu.Unlock()
		if err == nil {
			continue
		}
		select { // there are no children
		case <-r.more:
		case <-r.stop:
			return
		}
	}
}

// take returns what was reaped since the last time.
func (r *reaper) take() []batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.batches
	r.batches = nil
	return b
}

// reap takes all that have ended. The lock is held.
func (r *reaper) reap() batch {
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
		if ended := r.starters[pid]; ended != nil {
			ended <- ws
			delete(r.starters, pid)
			continue
		}
		e := exit{Rank: -1, Pid: pid, Status: ws}
		if id, ok := r.live[pid]; ok {
			e.Rank = id
			delete(r.live, pid)
			ask = ask || ws != 0
		}
		b.Exits = append(b.Exits, e)
	}
	if ask {
		b.Dying = r.dying()
	}
	r.deaths.look()
	r.deaths.number(b.Exits)
	return b
}

// look takes what has ended by now, and lists the ranks that have begun to end.
func (r *reaper) look() batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all batch
	for _, b := range append(r.batches, r.reap()) {
		all.Exits = append(all.Exits, b.Exits...)
	}
	r.batches = nil
	all.Dying = r.dying()
	return all
}

// dying lists the ranks that have begun to end. The lock is held, or one might
// be reaped meanwhile and its pid given away.
func (r *reaper) dying() (ids []int) {
	for pid, id := range r.live {
		if dying(pid) {
			ids = append(ids, id)
		}
	}
	return ids
}
