package harness

import (
	"math"
	"slices"
)

// percentiles returns the percentiles ps of the values, which it sorts. The
// index is round(n·p/100)−1, as in the C suite, and not below the first.
func percentiles(values []float64, ps []int) []float64 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	out := make([]float64, len(ps))
	for i, p := range ps {
		index := int(math.Round(float64(len(values))*float64(p)/100)) - 1
		out[i] = values[max(index, 0)]
	}
	return out
}
