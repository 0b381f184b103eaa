package main

import (
	"context"
	"time"
)

// meter measures how much of CPUs 0 and 1 other programs use. Ranks that wait
// by spinning and share their CPU with something else are slower by orders of
// magnitude, so that such a run says nothing.
type meter struct {
	known bool
	began time.Time
	busy  time.Duration
}

func newMeter() meter {
	busy, ok := cpuTime()
	return meter{known: ok, began: time.Now(), busy: busy}
}

// others is how many CPUs others have used since, when ours have used mine.
func (m meter) others(mine time.Duration) float64 {
	busy, ok := cpuTime()
	m.known = m.known && ok
	return m.share(time.Now(), busy, mine)
}

func (m meter) share(now time.Time, busy, mine time.Duration) float64 {
	took := now.Sub(m.began)
	if !m.known || took <= 0 {
		return 0
	}
	return max(0, float64(busy-m.busy-mine)/float64(took))
}

// quiet waits until others use less of the CPUs than a run may be disturbed
// by, or until it has waited long enough.
func (r *runner) quiet(ctx context.Context) {
	const glance = 100 * time.Millisecond
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for deadline := time.Now().Add(r.cfg.wait); time.Now().Before(deadline); {
		m := newMeter()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if m.others(0) <= r.cfg.others {
			return
		}
	}
}
