package main

// placement says where the two CPUs are.
type placement string

const (
	near placement = "near"
	far  placement = "far"
)

// sample is one run, with the probe's figures around it; a figure of 0 means
// that the probe could not measure.
type sample struct {
	side          string
	size          int
	value         float64
	before, after float64
}

// results are the runs that count, by placement.
type results struct {
	far       float64 // from how many ns on a placement is far
	kept      map[placement][]sample
	discarded int
}

func (r *results) place(ns float64) placement {
	if ns >= r.far {
		return far
	}
	return near
}

// add keeps the sample under its placement, or discards it when the placement
// changed or is not known.
func (r *results) add(s sample) (kept bool) {
	p := r.place(s.before)
	if s.before == 0 || s.after == 0 || r.place(s.after) != p {
		r.discarded++
		return false
	}
	if r.kept == nil {
		r.kept = make(map[placement][]sample)
	}
	r.kept[p] = append(r.kept[p], s)
	return true
}

// values returns one side's figures at one size in one placement.
func (r *results) values(p placement, side string, size int) []float64 {
	var v []float64
	for _, s := range r.kept[p] {
		if s.side == side && s.size == size {
			v = append(v, s.value)
		}
	}
	return v
}

// line returns the cache line's figures in one placement.
func (r *results) line(p placement) spread {
	var v []float64
	for _, s := range r.kept[p] {
		v = append(v, s.before, s.after)
	}
	return newSpread(v)
}
