package progress

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// Waits that begin while the engine closes end with ErrClosed, whether or not
// others were waiting before.
func TestCloseBesideWaits(t *testing.T) {
	for range 500 {
		e, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 3 {
					w := Waiter{Left: 1}
					e.Lock()
					err := e.Wait(context.Background(), &w)
					e.Unlock()
					if !errors.Is(err, ErrClosed) {
						t.Errorf("Wait: %v", err)
					}
				}
			})
		}
		e.Close()
		wg.Wait()
	}
}
