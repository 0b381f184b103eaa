package commtest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// callEnv names the call of Processes for which a process was started.
const callEnv = "COMMTEST_CALL"

// ran begins the line with which a rank says that it has run. Otherwise a test that
// doesn't come to its call again would pass.
const ran = "commtest: ran rank "

// afterAnswer is what a process has beyond the limit to tell the launcher what it
// waits for; the launcher ends it then.
const afterAnswer = 5 * time.Second

// isChild says whether this process was started by Processes.
func isChild() bool { return os.Getenv(callEnv) != "" }

// calls counts, per test, the calls of Processes, so that both processes mean the
// same one. It is the process's, since a test has no place for it.
var calls struct {
	sync.Mutex
	made map[string]int
}

// callName is the name of this call of Processes.
func callName(t *testing.T) string {
	calls.Lock()
	defer calls.Unlock()
	name := t.Name()
	if calls.made == nil {
		calls.made = map[string]int{}
	}
	if calls.made[name] == 0 {
		t.Cleanup(func() { // with -count the test runs again
			calls.Lock()
			defer calls.Unlock()
			delete(calls.made, name)
		})
	}
	calls.made[name]++
	return name + "#" + strconv.Itoa(calls.made[name])
}

// beRank is the life of a process that Processes has started. The test ends with it.
//
// A rank that fails leaves its world as it is: so its peers see the process's end and
// nothing before that, and the launcher knows who was first.
func beRank(t *testing.T, f comm.RunFunc, o options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), o.limit+afterAnswer)
	defer cancel()
	err := comm.Run(ctx, o.config, func(ctx context.Context, c *comm.Comm) error {
		fmt.Printf("%s%d\n", ran, c.Rank())
		if err := f(ctx, c); err != nil {
			t.Fatal(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.SkipNow() // what follows is the parent's
}
