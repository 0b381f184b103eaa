// Package verbstest is the conformance suite of the device model: a device
// that passes Run keeps the promises of package verbs, and what is written
// against one such device works on the others.
//
// A device's own test calls Run with a Harness that opens devices of its kind:
//
//	func TestConformance(t *testing.T) {
//		verbstest.Run(t, verbstest.Harness{
//			Open: func(t testing.TB, n int) verbstest.Net { … },
//			Skip: map[string]string{"ReadAlloc": "an adapter has no memory of its own"},
//		})
//	}
//
// Most tests drive all devices from one goroutine: a turn polls every
// completion queue once and then moves virtual time, if there is any, by one
// step. A few drive each device from a goroutine of its own, for the race
// detector. Each wait has a limit; a wait that runs into it prints who waits
// for whom. Random schedules print their seed; VERBSTEST_SEED repeats one.
package verbstest

import (
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// Harness describes a kind of device to the suite.
type Harness struct {
	// Open makes n devices, n ≥ 1, that can reach one another. The suite
	// closes the devices; what else Open makes is cleaned up by t.Cleanup.
	Open func(t testing.TB, n int) Net

	// Skip names subtests that the device can't pass, and says why not.
	Skip map[string]string

	// Limit bounds each wait. 0: 10 s.
	Limit time.Duration

	seeds *seeds // of the test that runs
}

// Net is a set of devices that can reach one another.
type Net struct {
	Devices []verbs.Device

	// Step moves virtual time to the next event. Nil where time is real. It
	// may be called from several goroutines.
	Step func()

	// Woken says whether an armed event of d has happened, for a device
	// without wake descriptors. Like a descriptor's readiness it stays until
	// the completion queue that woke is polled or armed again.
	Woken func(d verbs.Device) bool

	// Unsifted says that any message wakes a side that is armed for solicited ones: the
	// device can't tell them apart before they are read. The side polls and arms again.
	Unsifted bool

	// Nobody is a well-formed address of which no device answers.
	Nobody []byte

	// Kill ends device i as the death of its process would. The suite makes
	// no further call on the device but Close, when the test is over.
	Kill func(i int)
}

const defaultLimit = 10 * time.Second

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	if h.Limit == 0 {
		h.Limit = defaultLimit
	}
	known := make(map[string]bool)
	for _, group := range groups {
		for _, c := range group {
			known[c.name] = true
			t.Run(c.name, func(t *testing.T) {
				if why, ok := h.Skip[c.name]; ok {
					t.Skipf("the device can't: %s", why)
				}
				h := h
				h.seeds = newSeeds(t)
				c.run(t, h)
			})
		}
	}
	for name := range h.Skip {
		if !known[name] {
			t.Errorf("Harness.Skip names %q, which is no test of the suite", name)
		}
	}
}

// test is one subtest of the suite.
type test struct {
	name string
	run  func(t *testing.T, h Harness)
}

var groups = [][]test{
	connectTests,
	contentTests,
	orderTests,
	inlineTests,
	queueTests,
	rnrTests,
	rqTests,
	viewTests,
	readTests,
	readErrorTests,
	abortTests,
	closeTests,
	armTests,
	pairTests,
	modelTests,
}
