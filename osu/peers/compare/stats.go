package main

import "slices"

// spread describes some figures.
type spread struct {
	n                 int
	median            float64
	low, high         float64 // the quartiles
	smallest, largest float64
}

func newSpread(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	v := slices.Sorted(slices.Values(values))
	return spread{
		n:        len(v),
		median:   quantile(v, 0.5),
		low:      quantile(v, 0.25),
		high:     quantile(v, 0.75),
		smallest: v[0],
		largest:  v[len(v)-1],
	}
}

// quantile interpolates between the two nearest of sorted figures.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
