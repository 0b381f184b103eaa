package tcp

import (
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs"
)

// A queue pair that has failed, of a device that lives, isn't one that was closed in good order:
// its peer, which connects afterwards, hears that it is refused.
func TestLateToFailed(t *testing.T) {
	for labels := range uint32(2) { // one end chooses, or the other
		job := secret.New()
		c := Config{Secret: job, Net: "lo", Timeout: 300 * time.Millisecond}
		a, cqA, qa := queuePair(t, c)
		b, cqB, qb := queuePair(t, c)
		if err := qa.Connect(b.Addr(), 1+labels, 2-labels); err != nil {
			t.Fatal(err)
		}
		if _, err := qa.PostSend(nil); err != nil {
			t.Fatal(err)
		}
		if s := closedWith(t, cqA); s != verbs.StatusRefused { // b hasn't called Connect
			t.Fatal(s)
		}
		if err := qb.Connect(a.Addr(), 2-labels, 1+labels); err != nil {
			t.Fatal(err)
		}
		if _, err := qb.PostSend(nil); err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
					cqA.Poll(make([]verbs.Completion, 4))
					time.Sleep(time.Millisecond)
				}
			}
		}()
		if s := closedWith(t, cqB); s != verbs.StatusRefused {
			t.Errorf("labels %d: the late one ends with %v", labels, s)
		} else {
			t.Log(qb.(verbs.Explainer).Why())
		}
		close(stop)
		<-done
	}
}
