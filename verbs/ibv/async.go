//go:build ibv && cgo && linux

package ibv

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// async is the goroutine that takes the adapter's asynchronous events. It waits
// in the runtime's poller, on a duplicate of the library's descriptor.
type async struct {
	dev  *device
	file *os.File
}

func (d *device) newAsync() (*async, error) {
	fd, err := unix.FcntlInt(uintptr(d.adapter.asyncFD()), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, failed("duplicate event descriptor", err)
	}
	return &async{d, os.NewFile(uintptr(fd), "ibv events")}, nil
}

func (a *async) run() {
	rc, err := a.file.SyscallConn()
	if err != nil {
		return
	}
	_ = rc.Read(func(uintptr) bool {
		for {
			e, ok := a.dev.adapter.asyncEvent()
			if !ok {
				return false
			}
			a.dev.event(e)
		}
	})
}

func (a *async) close() { a.file.Close() }

func (d *device) event(e asyncEvent) {
	d.mu.Lock()
	q, rq := d.byNum[e.qpn], d.bySRQ[e.srq]
	all := make([]*queuePair, 0, len(d.byNum))
	if e.kind == evDevice || e.kind == evCQError || e.kind == evSRQError {
		for _, q := range d.byNum {
			all = append(all, q)
		}
	}
	d.mu.Unlock()
	switch e.kind {
	case evSRQLimit:
		d.count.limits.Add(1)
		if rq == nil {
			return
		}
		rq.fired.Store(true)
		if cq := rq.cq.Load(); cq != nil {
			cq.note(verbs.Completion{Slot: verbs.NoSlot, Op: verbs.OpLow})
		}
	case evMet:
		if q != nil {
			q.opened()
		}
	case evQPFatal, evQPRequest, evQPAccess:
		if q != nil {
			q.fail(verbs.StatusPeerDead, true)
		}
	case evQPLast:
		d.count.lasts.Add(1)
	}
	for _, q := range all {
		q.fail(verbs.StatusFlushed, true)
	}
}
