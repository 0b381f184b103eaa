package tcp

import (
	"sync"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
)

// Everybody dials everybody at once: more handshakes from one source than have a place.
func TestStorm(t *testing.T) {
	for _, tls := range []bool{false, true} {
		devices := map[bool]int{false: 24, true: 12}[tls]
		cfg := Config{Secret: secret.New(), Net: "127.0.0.1", TLS: tls, Timeout: time.Minute}
		cfg.limits = defaultLimits
		cfg.limits.all, cfg.limits.source = 8, 6 // fewer places than come at once
		var all []*end
		for range devices {
			all = append(all, opened(t, cfg, accepts))
		}
		start := time.Now()
		var wg sync.WaitGroup
		for i, a := range all {
			for k, b := range all {
				if i == k {
					continue
				}
				wg.Go(func() {
					l, err := a.dial(t.Context(), b.addr(), uint32(i), uint32(k), 0)
					if err != nil {
						t.Errorf("%d to %d: %v", i, k, err)
						return
					}
					_ = l.close()
				})
			}
		}
		wg.Wait()
		t.Logf("TLS %v: %d connections in %v", tls, devices*(devices-1), time.Since(start))
		for i, e := range all {
			for range devices - 1 {
				if l := e.taken(t); l.remote == uint32(i) || l.local != uint32(i) {
					t.Errorf("link %+v at %d", *l, i)
				}
			}
		}
	}
}
