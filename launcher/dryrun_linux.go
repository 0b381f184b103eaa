package launcher

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// DryRun writes what Run would do, one line a step, and does nothing. Programs
// are looked up, and not built.
func DryRun(j Job, w io.Writer) error {
	if err := j.validate(); err != nil {
		return err
	}
	s, err := j.spec(context.Background())
	if err != nil {
		return err
	}
	p := s.Plan
	bound, err := newBinding(p.here(), s.Bind)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, q := range s.Parts {
		if q.Program.Package != "" {
			dir, pattern := buildPlace(q.Program.Package)
			args := append(append([]string{"go", "build"}, s.BuildFlags...), pattern)
			fmt.Fprintf(&b, "build %s: %s\n", shellQuote(q.Name), inDir(dir, args))
		}
	}
	if s.DisplayMap || len(j.Hosts) > 0 {
		b.WriteString(p.display())
	}
	for rank, seat := range p.Seats {
		q := s.Parts[seat.Part]
		words := append([]string{q.Name}, q.Args...)
		if len(q.Own) > 0 {
			words = append(append([]string{"env"}, q.Own...), words...)
		}
		fmt.Fprintf(&b, "rank %d: %s: %s\n", rank, p.where(rank, bound), inDir(q.Dir, words))
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// where says in words where a rank runs: other hosts decide about their cores.
func (p *plan) where(rank int, here *binding) string {
	seat := p.Seats[rank]
	switch h := p.Hosts[seat.Host]; {
	case !h.Local:
		return "on " + hostName(h)
	case h.Name == "":
		return here.where(seat.Local)
	default:
		return "on " + hostName(h) + ", " + here.where(seat.Local)
	}
}
