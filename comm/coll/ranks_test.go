package coll_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/commtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is for one run. The race detector makes nine ranks slow.
const limit = 5 * time.Minute

// run runs f on n ranks.
func run(t testing.TB, n int, c comm.Config, f comm.RunFunc) {
	t.Helper()
	commtest.Run(t, n, f, commtest.Config(c), commtest.Limit(limit))
}

// runDying runs f on ranks of which some die, which is no failure of the test.
func runDying(t *testing.T, n int, c comm.Config, f comm.RunFunc) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(quiet{t}, n, c, f)
	}()
	<-done
}

// quiet is a test that can't fail.
type quiet struct{ testing.TB }

func (quiet) Errorf(string, ...any) {}
func (quiet) FailNow()              { runtime.Goexit() }

// The settings under which the algorithms are tested: receive slots shared and per
// peer; each way of reading; few slots; all messages by rendezvous.
var configs = []struct {
	name string
	comm.Config
}{
	{"srq", comm.Config{Recv: "srq"}},
	{"peer", comm.Config{Recv: "peer", Read: "copy"}},
	{"tight", comm.Config{Slots: 4, EagerLimit: 200, Read: "stream"}},
	{"no eager", comm.Config{EagerLimit: -1}},
}

// everywhere runs f on 1 to 9 ranks: each number under one of the settings, so that all
// are met, or under all of them in the full form. Odd numbers are without the checks that
// commtest turns on.
func everywhere(t *testing.T, f comm.RunFunc) {
	for n := 1; n <= 9; n++ {
		for i, c := range configs {
			if i != n%len(configs) && os.Getenv("VERBENA_LONG") != "1" {
				continue
			}
			t.Run(fmt.Sprintf("%d ranks, %s", n, c.name), func(t *testing.T) {
				if n%2 == 0 {
					run(t, n, c.Config, f)
				} else {
					runPlain(t, n, c.Config, f)
				}
			})
		}
	}
}
