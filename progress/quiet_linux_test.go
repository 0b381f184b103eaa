package progress

import (
	"context"
	"testing"
	"time"
)

// A driver that sleeps for long is reported, and what its waiter waits for has a
// beginning; one that has woken up is not.
func TestQuiet(t *testing.T) {
	b := newBench(t, Config{})
	reports := make(chan bool, 10)
	if err := b.WatchQuiet(func() {
		b.Lock()
		defer b.Unlock()
		reports <- b.Asleep()
	}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	g := b.wait(context.Background(), 1, 1)
	select {
	case asleep := <-reports:
		if took := time.Since(begun); !asleep || took < quietAfter {
			t.Errorf("reported after %v, asleep: %v", took, asleep)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("not reported")
	}
	b.Lock()
	since, ends, long := b.waiters[1].Long()
	b.Unlock()
	if !long || ends || since.Before(begun) {
		t.Errorf("%v, %v, %v", since, ends, long)
	}
	b.cq.push(completion(1))
	b.ends(g, "the driver")
	b.Lock()
	defer b.Unlock()
	if _, _, long := b.waiters[1].Long(); long || b.Asleep() || len(reports) != 0 {
		t.Errorf("after the wait: long %v, %d reports", long, len(reports))
	}
}
