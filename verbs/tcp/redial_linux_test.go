package tcp

import (
	"context"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs"
)

// A peer that takes each connection and ends it again, without a word, isn't dialed for ever, nor
// as fast as one can: the queue pair ends within the limit.
func TestPeerThatHangsUp(t *testing.T) {
	job := secret.New()
	const timeout = 500 * time.Millisecond
	d, cq, q := queuePair(t, Config{Secret: job, Net: "lo", Timeout: timeout})
	liar, err := newContacts(Config{Secret: job, Net: "lo"}, accepts, func(l link) { _ = l.close() })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(liar.close)
	if err := q.Connect(liar.addr(), 2, 1); err != nil { // the liar chooses
		t.Fatal(err)
	}
	if _, err := q.PostSend(nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*timeout)
	defer cancel()
	var c [4]verbs.Completion
	for ended := false; !ended; {
		for _, one := range c[:cq.Poll(c[:])] {
			ended = one.Op == verbs.OpClosed
			t.Logf("it ends with %v", one.Status)
		}
		if ctx.Err() != nil {
			t.Fatalf("after %v and %d dials it hasn't ended", 10*timeout, d.count.dials)
		}
	}
	if d.count.dials != 1 {
		t.Errorf("%d dials", d.count.dials)
	}
}
