package harness

import "iter"

// Limits of options. They are far above what makes sense, and keep the product
// of size and window below what a program can address.
const (
	maxSize        = 1 << 40
	maxWindow      = 1 << 20
	maxBytes       = 1 << 44 // size times window, with -b multiple
	maxIterations  = 1 << 30
	maxPercentiles = 5
	maxDecimals    = 9
	maxPairs       = 1 << 20
)

// largeMessage is the size above which fewer iterations are the default.
const largeMessage = 8192

// Options are a benchmark's options, complete with defaults.
type Options struct {
	Min, Max   int // message sizes
	Iterations Counts
	WarmUp     Counts
	Window     int // messages per iteration; 1 for latency
	Multiple   bool
	Pairs      int  // of ranks; 0: as many as there can be
	Rates      bool // print message rates
	Vary       bool // measure windows of several sizes
	Alloc      bool // buffers from comm.Alloc rather than from make

	Validate       bool
	ValidateWarmUp int   // iterations before each timed one, with Validate
	Full           bool  // print minimum, maximum and iterations
	Percentiles    []int // empty: none are asked for
	Clock          bool  // print what reading the clock costs
	CPUs           bool  // print where the ranks are pinned
	Decimals       int   // of the table's figures

	Help, Version bool
}

// Counts are numbers of iterations, which depend on the message size.
type Counts struct{ Small, Large int }

// For returns the number for messages of size bytes.
func (c Counts) For(size int) int {
	if size > largeMessage {
		return c.Large
	}
	return c.Small
}

// defaults returns the options of a command line that has none.
func defaults(m Metric) Options {
	o := Options{Min: 1, Max: 4 << 20, ValidateWarmUp: 5, Decimals: 2, Rates: m == Rate}
	switch m {
	case Latency:
		o.Iterations, o.WarmUp, o.Window = Counts{10000, 1000}, Counts{100, 10}, 1
	case Mean:
		o.Max, o.Window = 1<<20, 1
		o.Iterations, o.WarmUp = Counts{1000, 100}, Counts{100, 10}
	case Bandwidth, Rate:
		o.Iterations, o.WarmUp, o.Window = Counts{100, 20}, Counts{10, 2}, 64
	}
	return o
}

// Sizes are the message sizes to measure: doubling from the minimum, which
// counts as 1 when it is 0, while they are not above the maximum.
func (o *Options) Sizes() iter.Seq[int] {
	return func(yield func(int) bool) {
		for size := max(o.Min, 1); size <= o.Max; size *= 2 {
			if !yield(size) {
				return
			}
		}
	}
}
