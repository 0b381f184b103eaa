package harness

import (
	"context"
	"fmt"
)

// varied are the windows that -V measures.
var varied = []int{1, 2, 4, 8, 16, 32, 64, 128}

func variedHeader() []byte {
	line := fmt.Appendf(nil, "%-7s", "#")
	for _, w := range varied {
		line = fmt.Appendf(line, "%12d", w)
	}
	return append(line, '\n')
}

// variedRow is a row of either table: a value for each window.
func variedRow(size, decimals int, values []float64) []byte {
	line := fmt.Appendf(nil, "%-7d", size)
	for _, v := range values {
		line = fmt.Appendf(line, "  %10.*f", decimals, v)
	}
	return append(line, '\n')
}

const rateProfile = "\n# Message Rate Profile\n"

// vary measures all sizes with windows of several sizes, and prints two tables: the
// bandwidths as they are measured, and the message rates.
func (r *run) vary(ctx context.Context, t *table, first bool) error {
	rates := append([]byte(rateProfile), variedHeader()...)
	for size := range r.options.Sizes() {
		values, rate := make([]float64, len(varied)), make([]float64, len(varied))
		for i, window := range varied {
			r.options.Window = window
			r.allocate(size)
			got, err := r.measure(ctx, size)
			switch {
			case err != nil:
				return err
			case r.options.Validate && !got.valid:
				return r.invalid(ctx, first, size)
			}
			values[i], rate[i] = got.value, got.rate
			r.release()
		}
		rates = append(rates, variedRow(size, r.options.Decimals, rate)...)
		if first {
			if _, err := t.out.Write(variedRow(size, r.options.Decimals, values)); err != nil {
				return err
			}
		}
	}
	if !first || !r.options.Rates {
		return nil
	}
	_, err := t.out.Write(rates)
	return err
}
