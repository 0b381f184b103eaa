package harness

import (
	"fmt"
	"io"

	"github.com/verbena-mpi/verbena/comm"
)

// suiteVersion is the version of the C suite whose output is followed.
const suiteVersion = "v7.4"

// table prints a benchmark's results. Each line is one write, so that rows
// appear as they are measured.
type table struct {
	out     io.Writer
	metric  Metric
	options *Options
}

// row is what one message size gave.
type row struct {
	size        int
	value       float64
	valid       bool      // with validation
	percentiles []float64 // as many as were asked for
}

// title is a benchmark's name with what it measured.
func (s *Spec) title() string {
	return fmt.Sprintf("# %s %s (verbena %s)", s.Title, suiteVersion, comm.Version)
}

// header prints all that precedes the rows. The comments are further lines
// that start with "# ", which parsers skip.
func (t *table) header(title string, comments ...string) error {
	line := fmt.Appendf(nil, "\n%s\n# Datatype: MPI_CHAR.\n", title)
	for _, c := range comments {
		line = fmt.Appendf(line, "# %s\n", c)
	}
	line = fmt.Appendf(line, "%-10s%18s", "# Size", t.metric.column())
	if t.options.Validate {
		line = fmt.Appendf(line, "%18s", "Validation")
	}
	for _, p := range t.options.Percentiles {
		line = fmt.Appendf(line, "%18s", fmt.Sprintf("P%d %s", p, t.metric.tail()))
	}
	_, err := t.out.Write(append(line, '\n'))
	return err
}

// print prints one row.
func (t *table) print(r *row) error {
	line := fmt.Appendf(nil, "%-10d%18.*f", r.size, t.options.Decimals, r.value)
	if t.options.Validate {
		verdict := "Fail"
		if r.valid {
			verdict = "Pass"
		}
		line = fmt.Appendf(line, "%18s", verdict)
	}
	for _, v := range r.percentiles {
		line = fmt.Appendf(line, "%18.*f", t.options.Decimals, v)
	}
	_, err := t.out.Write(append(line, '\n'))
	return err
}
