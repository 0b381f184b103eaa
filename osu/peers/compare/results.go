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
	others        float64 // CPUs that other programs used
}

// verdict says what becomes of a run.
type verdict string

const (
	kept    verdict = "kept"
	moved   verdict = "discarded: the placement changed"
	unknown verdict = "discarded: the placement could not be measured"
	crowded verdict = "discarded: other programs used the CPUs"
)

// results are the runs that count, by placement, and how many did not.
type results struct {
	far       float64 // from how many ns on a placement is far
	others    float64 // more CPUs than this must not be used by others
	kept      map[placement][]sample
	discarded map[verdict]int
}

func (r *results) place(ns float64) placement {
	if ns >= r.far {
		return far
	}
	return near
}

// add keeps the sample under its placement, or discards it.
func (r *results) add(s sample) verdict {
	p := r.place(s.before)
	v := kept
	switch {
	case s.before == 0 || s.after == 0:
		v = unknown
	case r.place(s.after) != p:
		v = moved
	case s.others > r.others:
		v = crowded
	}
	if r.kept == nil {
		r.kept, r.discarded = make(map[placement][]sample), make(map[verdict]int)
	}
	if v == kept {
		r.kept[p] = append(r.kept[p], s)
	} else {
		r.discarded[v]++
	}
	return v
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

// count is how many runs count.
func (r *results) count() int { return len(r.kept[near]) + len(r.kept[far]) }

// lost is how many don't.
func (r *results) lost() int {
	n := 0
	for _, d := range r.discarded {
		n += d
	}
	return n
}
