//go:build linux

package tcp

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
)

// A peer that doesn't answer is dead after Config.Timeout: the kernel says so, by
// TCP_USER_TIMEOUT. But it says the same of a peer that answers, and has had no room
// for what is sent for so long, since it computes, or was stopped. Such a peer is slow,
// and not dead. So the device looks at its connections several times in that time,
// and takes the limit away while the peer has no room; then it counts itself how
// often the kernel has asked for room in vain.

// stallChecks is how often connections are looked at, in Config.Timeout.
const stallChecks = 4

// deafProbes is how many questions in a row go without an answer before a peer that had
// no room counts as dead, if Config.Timeout has passed too.
const deafProbes = 3

// stalls looks at all connections. It runs in a goroutine of the device's: that nobody
// polls must not kill connections.
type stalls struct {
	dev   *Device
	timer *time.Timer
	// Guarded by Device.look.
	over    bool
	windows bool // the kernel tells the peer's window (Linux 5.4): else it reads as 0
}

func (s *stalls) init(d *Device) {
	s.dev = d
	s.timer = time.AfterFunc(time.Hour, s.check)
	s.timer.Stop()
}

// start is called with Device.look held, with the first connection.
func (s *stalls) start() {
	often := s.dev.tune.stallEvery
	if often == 0 {
		often = s.dev.cfg.Timeout / stallChecks
	}
	s.timer.Reset(often)
}

func (s *stalls) check() {
	d := s.dev
	d.look.Lock()
	defer d.look.Unlock()
	if s.over {
		return
	}
	some := false
	for _, c := range d.poll.conns {
		if c != nil {
			some = true
			c.checkStall(d.cfg.Timeout)
		}
	}
	if some {
		s.start()
	}
}

func (c *conn) checkStall(limit time.Duration) {
	fd := c.link.fd
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return
	}
	s := &c.dev.stalls
	s.windows = s.windows || info.Snd_wnd > 0
	full := info.Probes > 0 || s.windows && info.Snd_wnd == 0 || info.Notsent_bytes > 0 && info.Unacked == 0
	switch {
	case full && !c.patient:
		c.patient = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 0) == nil
		// The kernel asks less and less often, up to every two minutes; newer ones can
		// be told to go on asking.
		often := max(limit/stallChecks, time.Second)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_RTO_MAX_MS, int(min(often, 2*time.Minute).Milliseconds()))
	case !full && c.patient:
		c.patient = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds())) != nil
	}
	silent := time.Duration(info.Last_ack_recv) * time.Millisecond
	if c.patient && info.Probes >= deafProbes && silent >= limit {
		_ = unix.Shutdown(fd, unix.SHUT_RDWR) // its reader finds an end without a goodbye
	}
}

// endWithout says what an end without a goodbye is: that of a peer that had fallen silent,
// which the kernel or checkStall has given up, or that of one whose process has ended.
func (c *conn) endWithout() verbs.Status {
	info, err := unix.GetsockoptTCPInfo(c.link.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err == nil && time.Duration(info.Last_ack_recv)*time.Millisecond >= c.dev.cfg.Timeout*9/10 {
		return verbs.StatusRetry
	}
	return verbs.StatusPeerDead
}
