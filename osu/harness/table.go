package harness

import (
	"fmt"
	"io"
	"strconv"

	"github.com/verbena-mpi/verbena/comm"
)

// suiteVersion is the version of the C suite whose output is followed.
const suiteVersion = "v7.4"

// table prints a benchmark's results. Each line is one write, so that rows
// appear as they are measured.
type table struct {
	out     io.Writer
	spec    *Spec
	options *Options
}

// row is what one message size gave.
type row struct {
	size        int
	value       float64
	min, max    float64   // of the ranks
	iterations  int       // timed
	rate        float64   // messages per second
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
	line := fmt.Appendf(nil, "%s\n", title)
	if t.spec.Metric == Rate {
		line = fmt.Appendf(line, "# [ pairs: %d ] [ window size: %s ]\n", t.options.Pairs, t.window())
	} else {
		line = append([]byte("\n"), line...)
	}
	if t.options.Vary {
		line = append(line, "\n# Uni-directional Bandwidth (MB/sec)\n"...)
	}
	if !t.spec.Sizeless {
		line = append(line, "# Datatype: MPI_CHAR.\n"...)
	}
	for _, c := range comments {
		line = fmt.Appendf(line, "# %s\n", c)
	}
	if t.options.Vary {
		_, err := t.out.Write(append(line, variedHeader()...))
		return err
	}
	if t.spec.Sizeless {
		line = fmt.Appendf(line, "# %s", t.spec.Metric.column())
	} else {
		line = fmt.Appendf(line, "%-10s%18s", "# Size", t.spec.Metric.column())
	}
	if t.options.Full {
		line = fmt.Appendf(line, "%18s%18s%12s", "Min Latency(us)", "Max Latency(us)", "Iterations")
	}
	if t.options.Rates {
		line = fmt.Appendf(line, "%18s", "Messages/s")
	}
	if t.options.Validate {
		line = fmt.Appendf(line, "%18s", "Validation")
	}
	for _, p := range t.options.Percentiles {
		line = fmt.Appendf(line, "%18s", fmt.Sprintf("P%d %s", p, t.spec.Metric.tail()))
	}
	_, err := t.out.Write(append(line, '\n'))
	return err
}

// window says how many messages a window has.
func (t *table) window() string {
	if t.options.Vary {
		return "varied"
	}
	return strconv.Itoa(t.options.Window)
}

// print prints one row.
func (t *table) print(r *row) error {
	var line []byte
	if t.spec.Sizeless {
		line = fmt.Appendf(nil, "%17.*f", t.options.Decimals, r.value)
	} else {
		line = fmt.Appendf(nil, "%-10d%18.*f", r.size, t.options.Decimals, r.value)
	}
	if t.options.Full {
		line = fmt.Appendf(line, "%18.*f%18.*f%12d", t.options.Decimals, r.min, t.options.Decimals, r.max, r.iterations)
	}
	if t.options.Rates {
		line = fmt.Appendf(line, "%18.*f", t.options.Decimals, r.rate)
	}
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
