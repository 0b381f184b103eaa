//go:build race

package jobtest

// raceOn says that this test was built with the race detector.
const raceOn = true
