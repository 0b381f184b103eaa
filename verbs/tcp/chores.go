//go:build linux

package tcp

import (
	"sync"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// chores has attend called when a time limit may be over.
type chores struct {
	mu    sync.Mutex
	timer *time.Timer
	at    time.Time // zero: it doesn't run
	over  bool
}

func (h *chores) init(d *Device) {
	h.timer = time.AfterFunc(time.Hour, func() {
		h.mu.Lock()
		h.at = time.Time{}
		if !h.over {
			d.wake()
		}
		h.mu.Unlock()
	})
	h.timer.Stop()
}

// soon asks for a call after a while.
func (h *chores) soon(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d += time.Millisecond
	if at := time.Now().Add(d); !h.over && (h.at.IsZero() || at.Before(h.at)) {
		h.at = at
		h.timer.Reset(d)
	}
}

func (h *chores) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.timer.Stop()
}

// expire ends what has lasted too long.
func (d *Device) expire(now time.Time) {
	limit := d.cfg.Timeout
	var next time.Duration
	old := func(since time.Time, limit time.Duration) bool {
		left := limit - now.Sub(since)
		if left > 0 && (next == 0 || left < next) {
			next = left
		}
		return left <= 0
	}
	for i := len(d.leaving) - 1; i >= 0; i-- {
		c := d.leaving[i]
		if c.dismiss(); c.gone() {
			continue
		}
		if n := c.underWay(); n != c.under {
			c.under, c.since = n, now
		}
		if old(c.since, limit) {
			c.shut()
		}
	}
	for _, q := range d.qps {
		if q.state == qpConnecting && q.stop == nil && old(q.since, limit) {
			q.fail(verbs.StatusRefused)
			continue
		}
		for i := len(q.candidates) - 1; i >= 0; i-- {
			if c := q.candidates[i]; old(c.since, limit) {
				c.shut()
			}
		}
	}
	if next > 0 {
		d.chores.soon(next)
	}
}
