package main

import "fmt"

// report is what there is to print, for text and markdown alike.
type report struct {
	title    string
	notes    []string
	sections []section
}

// section is one placement.
type section struct {
	title string
	head  []string
	rows  [][]string
}

func (r *runner) report() *report {
	what := "latency, one way, in µs; less is better"
	if r.bandwidth() {
		what = "bandwidth, in MB/s; more is better"
	}
	rep := &report{
		title: what,
		notes: append([]string{fmt.Sprintf("%d rounds; %d runs kept near, %d far", r.done, len(r.runs.kept[near]), len(r.runs.kept[far]))}, r.notes...),
	}
	for _, v := range []verdict{moved, unknown, crowded} {
		if n := r.runs.discarded[v]; n > 0 {
			rep.notes = append(rep.notes, fmt.Sprintf("%d runs %s", n, v))
		}
	}
	for _, s := range r.sides {
		if n := r.failed[s.name]; n > 0 {
			rep.notes = append(rep.notes, fmt.Sprintf("%s: %d runs failed", s.name, n))
		}
	}
	for _, p := range []placement{near, far} {
		if len(r.runs.kept[p]) > 0 {
			rep.sections = append(rep.sections, r.section(p))
		}
	}
	return rep
}

func (r *runner) bandwidth() bool { return r.cfg.bench == "bw" }

// section has the figures of one placement. Ratios are those of medians.
func (r *runner) section(p placement) section {
	line := r.runs.line(p)
	s := section{
		title: fmt.Sprintf("%s: a cache line takes %.1f ns one way (%.1f to %.1f)", p, line.median, line.smallest, line.largest),
		head:  []string{"Size", "Side", "Runs", "Median", "Quartiles", "Min", "Max", "/best", "/default"},
	}
	switch {
	case r.cfg.net == tcp:
		s.head = append(s.head, "/raw")
	case !r.bandwidth():
		s.head = append(s.head, "/line")
	}
	for _, size := range r.cfg.sizes {
		c := r.compareSides(p, size)
		for _, side := range r.sides {
			sp := c.spreads[side.name]
			if sp.n == 0 {
				continue
			}
			row := []string{
				fmt.Sprint(size), side.name, fmt.Sprint(sp.n), figure(sp.median),
				figure(sp.low) + "–" + figure(sp.high), figure(sp.smallest), figure(sp.largest),
				c.mark(side, c.best), c.mark(side, c.standard),
			}
			switch {
			case r.cfg.net == tcp:
				row = append(row, c.ratio(side.name, raw))
			case !r.bandwidth():
				row = append(row, fmt.Sprintf("%.1f", sp.median*1000/line.median))
			}
			s.rows = append(s.rows, row)
		}
	}
	return s
}

// comparison is one size in one placement.
type comparison struct {
	spreads        map[string]spread
	best, standard string // the peers that ours are compared with, "" for none
}

func (r *runner) compareSides(p placement, size int) comparison {
	c := comparison{spreads: make(map[string]spread)}
	better := func(name, than string) bool {
		if than == "" {
			return true
		}
		a, b := c.spreads[name].median, c.spreads[than].median
		return a < b != r.bandwidth() && a != b
	}
	for _, s := range r.sides {
		sp := newSpread(r.runs.values(p, s.name, size))
		c.spreads[s.name] = sp
		if s.ours || s.floor || sp.n == 0 {
			continue
		}
		if better(s.name, c.best) {
			c.best = s.name
		}
		if s.asIs && better(s.name, c.standard) {
			c.standard = s.name
		}
	}
	return c
}

// mark is the ratio of one of ours to a peer, or marks that peer.
func (c *comparison) mark(s *side, peer string) string {
	switch {
	case s.name == peer:
		return "1"
	case !s.ours || peer == "" || c.spreads[peer].median == 0:
		return ""
	}
	return c.ratio(s.name, peer)
}

// ratio is that of two sides' medians, or nothing where there is none.
func (c *comparison) ratio(name, to string) string {
	if c.spreads[to].median == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", c.spreads[name].median/c.spreads[to].median)
}

// figure writes a figure with the digits that mean something.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}
