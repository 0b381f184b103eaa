package launcher

import (
	"fmt"
	"io"
	"syscall"
)

// dial starts a starter for the supervisor, which has opened two streams for it.
func (a *agent) dial(d agentDial) {
	ended := func(status syscall.WaitStatus) {
		a.say(fromAgent{Ended: &agentEnded{d.ID, uint32(status)}})
	}
	const failed = StatusNotFound << 8
	conn, err := a.stream(streamStarter, d.ID)
	if err != nil {
		ended(failed)
		return
	}
	errs, err := a.stream(streamStarterErr, d.ID)
	if err != nil {
		_ = conn.Close()
		ended(failed)
		return
	}
	s, err := startStarter(a.crew.reaper, d.Argv, syscall.Signal(d.AtDeath))
	if err != nil {
		_, _ = fmt.Fprintln(errs, err)
		_, _ = errs.Close(), conn.Close()
		ended(failed)
		return
	}
	a.log.Debugf("pid %d is to start an agent", s.pid)
	a.starters.Add(1)
	go func() {
		_, _ = io.Copy(s.conn.out, conn)
		_ = s.conn.out.Close() // the agent there ends
	}()
	go func() {
		_, _ = io.Copy(conn, s.conn.in)
		_ = conn.Close()
	}()
	go func() {
		_, _ = io.Copy(errs, s.errs)
		_ = errs.Close()
	}()
	go func() {
		defer a.starters.Done()
		ended(<-s.ended)
	}()
}
