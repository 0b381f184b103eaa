package harness

import (
	"fmt"
	"slices"
	"time"
)

var epoch = time.Now()

// now reads the monotonic clock. time.Since of a fixed time reads only that
// one; time.Now reads two and takes twice as long.
func now() time.Duration { return time.Since(epoch) }

// clockCost returns what one reading takes, in nanoseconds: the median of
// several bursts.
func clockCost() float64 {
	const bursts, readings = 21, 1000
	took := make([]float64, bursts)
	for i := range took {
		began := now()
		end := began
		for range readings {
			end = now()
		}
		took[i] = float64(end-began) / readings
	}
	slices.Sort(took)
	return took[bursts/2]
}

// clockComment is the table's line about the clock.
func clockComment() string {
	return fmt.Sprintf("Clock: %.1f ns per reading", clockCost())
}
