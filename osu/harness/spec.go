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
)

// Spec says what a benchmark is.
type Spec struct {
	Name   string // as its command is called
	Title  string // as the table's title has it, without the version
	Metric Metric

	// OneWay benchmarks send from rank 0 to rank 1 only: rank 0 has no
	// receive buffers and rank 1 no send buffers.
	OneWay bool
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
	if m == Bandwidth {
		return "Bandwidth (MB/s)"
	}
	return "Avg Latency(us)"
}

// tail is the heading of a percentile, after its number.
func (m Metric) tail() string {
	if m == Bandwidth {
		return "Tail BW(MB/s)"
	}
	return "Tail Lat(us)"
}

// value turns the time of some iterations into what the table shows. A
// percentile is the value of one iteration, so a high percentile of a
// bandwidth is a fast one, as in the C suite.
func (m Metric) value(size, window, iterations int, took time.Duration) float64 {
	if m == Bandwidth {
		return float64(size) / 1e6 * float64(window) * float64(iterations) / took.Seconds()
	}
	return took.Seconds() * 1e6 / (2 * float64(iterations))
}
