//go:build linux

package tcp

import "golang.org/x/sys/unix"

// hot is the one or two connections over which something has come lately. While no
// other has had anything they are read without asking the kernel which of all sockets
// are ready. It is the driver's; connections are dropped with Device.look held.
type hot struct {
	conns [2]*conn
	last  [2]uint64 // the turn at which something came
	n     int
	many  uint64 // up to this turn there were more than fit
	looks uint32
	vec   vec
	reads uint64 // by Pending; guarded by Device.look
}

const (
	// coldAfter is after how many turns without anything a connection's place is
	// another's.
	coldAfter = 64
	// wideEvery is how often all sockets are looked at nevertheless.
	wideEvery = 16
)

// usable says whether a look at these connections is enough, this time.
func (h *hot) usable(d *Device) bool {
	return h.n > 0 && h.looks%wideEvery != 0 && d.turn > h.many && d.writing.stuck.Load() == 0 && len(d.leaving) == 0
}

// seen notes that something has come.
func (h *hot) seen(d *Device, c *conn) {
	if c.gone() || c.in.paused || c.stage != stageLive && c.stage != stageRail {
		return
	}
	oldest := 0
	for i, o := range h.conns[:h.n] {
		if o == c {
			h.last[i] = d.turn
			return
		}
		if h.last[i] < h.last[oldest] {
			oldest = i
		}
	}
	switch {
	case h.n < len(h.conns):
		oldest = h.n
		h.n++
	case d.turn-h.last[oldest] < coldAfter:
		h.many = d.turn + coldAfter
		return
	}
	before := h.conns[oldest]
	h.conns[oldest], h.last[oldest] = c, d.turn
	if before != nil {
		before.quiet()
	}
}

func (h *hot) has(c *conn) bool { return h.conns[0] == c || h.conns[1] == c }

// drop forgets a connection.
func (h *hot) drop(c *conn) {
	for i, o := range h.conns[:h.n] {
		if o == c {
			h.n--
			h.conns[i], h.last[i] = h.conns[h.n], h.last[h.n]
			h.conns[h.n] = nil
			return
		}
	}
}

// fresh says whether Pending has read something that wasn't looked at.
func (h *hot) fresh() bool {
	for _, c := range h.conns[:h.n] {
		if c.in.fresh {
			return true
		}
	}
	return false
}

// glimpse is what Pending does: it reads from the hot connections, or asks the kernel
// whether anything is ready.
func (d *Device) glimpse() bool {
	d.look.Lock()
	defer d.look.Unlock()
	h := &d.hot
	if d.poll.inner < 0 {
		return false
	}
	h.looks++
	for _, c := range h.conns[:h.n] {
		if c.in.fresh {
			return true
		}
	}
	if h.usable(d) {
		wide := false
		for _, c := range h.conns[:h.n] {
			if c.direct() || c.link.tls != nil {
				wide = true
			} else if c.prefetch() {
				return true
			}
		}
		if !wide {
			return false
		}
	}
	var ev [1]unix.EpollEvent
	if epollLook(d.poll.inner, ev[:]) > 0 {
		h.wide()
		return true
	}
	return false
}

// wide has the next look be at all sockets.
func (h *hot) wide() { h.looks = wideEvery - 1 }
