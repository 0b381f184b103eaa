package launcher

import (
	"os"
	"syscall"

	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"
)

// crew is the ranks that are children of this process, a supervisor or an agent.
type crew struct {
	ranks    []*rank // ascending
	reaper   *reaper
	realtime *unix.SchedAttr // of the ranks, if it is anything special
	log      *logrus.Logger
}

// start starts the ranks, each where it is bound, from this thread. Given is
// the standard input of a rank and what its environment has besides its place.
func (c *crew) start(bound *binding, parts []part, size int, given func(r *rank) (stdin *os.File, env []string, err error)) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fail(StatusInternal, "%w", err)
	}
	defer func() { _ = null.Close() }()
	for i, r := range c.ranks {
		if err := bound.move(i); err != nil {
			return err
		}
		stdin, more, err := given(r)
		if err != nil {
			return fail(StatusInternal, "stdin of rank %d: %w", r.id, err)
		}
		if stdin == nil {
			stdin = null
		}
		p := &parts[r.app]
		env := append(environ(p.Env, position{r.id, size, i, len(c.ranks), bound.own}), more...)
		c.reaper.mu.Lock()
		if err = r.launch(p, env, stdin); err == nil {
			c.reaper.watch(r)
		}
		c.reaper.mu.Unlock()
		if stdin != os.Stdin && stdin != null {
			_ = stdin.Close()
		}
		if err != nil {
			return err
		}
		demote(r.pid, c.realtime)
		c.log.Debugf("%v started, %s", r, bound.where(i))
	}
	return bound.back()
}

// watch begins to look after the ranks: all have been started.
func (c *crew) watch() {
	c.reaper.begin()
	c.reaper.seal()
}

// signal sends to all ranks but one.
func (c *crew) signal(sig syscall.Signal, groups bool, but int) {
	c.reaper.mu.Lock()
	defer c.reaper.mu.Unlock()
	for _, r := range c.ranks {
		if r.id != but {
			c.signalOne(r, sig, groups)
		}
	}
}

// signalOne sends to a rank's process, or to its process group. The reaper's
// lock is held.
func (c *crew) signalOne(r *rank, sig syscall.Signal, group bool) {
	if _, live := c.reaper.live[r.pid]; !live {
		return
	}
	if group && unix.Kill(-r.pid, sig) == nil {
		return
	}
	_ = unix.Kill(r.pid, sig) // it may have left its group
}

// kill kills the ranks, their groups and everything that is our child, but the
// starters of agents. What those have started becomes our child in turn, and is
// killed in the next round.
func (c *crew) kill() {
	c.reaper.mu.Lock()
	defer c.reaper.mu.Unlock()
	for _, r := range c.ranks {
		c.signalOne(r, syscall.SIGKILL, true)
	}
	for _, pid := range children() {
		if c.reaper.starters[pid] == nil {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}
