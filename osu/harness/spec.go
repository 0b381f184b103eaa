package harness

import (
	"context"
	"time"
)

// Metric is what a benchmark measures.
type Metric int

// The metrics, with their columns and their default iterations.
const (
	Latency   Metric = iota // half of a round trip, in microseconds
	Bandwidth               // 10⁶ bytes per second, of windows of messages
	Rate                    // Bandwidth, and messages per second beside it
	Once                    // no table: one line, of RunOnce
	Mean                    // of a collective on all ranks, in microseconds
)

// Spec says what a benchmark is.
type Spec struct {
	Name   string // as its command is called
	Title  string // as the table's title has it, without the version
	Metric Metric

	// OneWay benchmarks send from a pair's first rank to its second only: the
	// first has no receive buffers and the second no send buffers.
	OneWay bool

	// Paired benchmarks run on any number of ranks, at least two, which form
	// pairs: of n pairs, rank k < n and rank k+n are one.
	Paired bool

	// Sizeless collectives have no message: their table has one row, without a size.
	Sizeless bool
}

// Body does a benchmark's iterations, on one rank.
type Body interface {
	// Use gives the buffers of the iterations that follow: one for each
	// message of an iteration, which may all be the same memory.
	Use(send, recv [][]byte)

	// Step does one iteration. It is called in the timed loop and must not
	// allocate.
	Step(ctx context.Context) error
}

// column is the heading of the average.
func (m Metric) column() string {
	switch m {
	case Bandwidth:
		return "Bandwidth (MB/s)"
	case Rate:
		return "MB/s"
	}
	return "Avg Latency(us)"
}

// tail is the heading of a percentile, after its number.
func (m Metric) tail() string {
	if m == Latency || m == Mean {
		return "Tail Lat(us)"
	}
	return "Tail BW(MB/s)"
}

// value turns the time of some iterations into what the table shows. A
// percentile is the value of one iteration, so a high percentile of a
// bandwidth is a fast one, as in the C suite. Where both ranks of a pair send
// windows, both count.
func (s *Spec) value(size, window, iterations int, took time.Duration) float64 {
	if s.Metric == Latency {
		return took.Seconds() * 1e6 / (2 * float64(iterations))
	}
	if !s.OneWay {
		window *= 2
	}
	return float64(size) / 1e6 * float64(window) * float64(iterations) / took.Seconds()
}
