package verbstest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// seedVariable names the environment variable that repeats a failed test.
const seedVariable = "VERBSTEST_SEED"

// seeds is where the random schedules of one test come from.
type seeds struct {
	base, made uint64
}

// newSeeds takes the test's seed from the environment, or from the clock, and
// prints it if the test fails.
func newSeeds(t testing.TB) *seeds {
	s := &seeds{base: uint64(time.Now().UnixNano())}
	if v := os.Getenv(seedVariable); v != "" {
		n, err := strconv.ParseUint(v, 0, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		s.base = n
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s=%d repeats this", seedVariable, s.base)
		}
	})
	return s
}

// next is the seed of the next set of devices.
func (s *seeds) next() uint64 {
	s.made++
	return mix(s.base, s.made)
}

// newRand makes the generator of a seed.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed^0x5eed)) }

// mix makes a seed of two (the finaliser of splitmix64).
func mix(a, b uint64) uint64 {
	z := a*0x9e3779b97f4a7c15 + b
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
