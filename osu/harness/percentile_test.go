package harness

import (
	"slices"
	"testing"
	"time"
)

func upTo(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(n - i) // descending: they must be sorted
	}
	return values
}

func TestPercentiles(t *testing.T) {
	tests := []struct {
		n    int
		ps   []int
		want []float64
	}{
		{10000, []int{50, 90, 99}, []float64{5000, 9000, 9900}},
		{100, []int{1, 99}, []float64{1, 99}},
		{10, []int{99, 50}, []float64{10, 5}},
		{5, []int{50}, []float64{3}}, // 2.5 is rounded away from zero
		{20, []int{1}, []float64{1}}, // 0.2 is rounded to 0, and index −1 is the first
		{1, []int{99}, []float64{1}},
		{0, []int{99}, nil},
		{7, nil, []float64{}},
	}
	for _, tt := range tests {
		if got := percentiles(upTo(tt.n), tt.ps); !slices.Equal(got, tt.want) {
			t.Errorf("percentiles %v of 1..%d are %v, want %v", tt.ps, tt.n, got, tt.want)
		}
	}
}

func TestSpecValue(t *testing.T) {
	if got := latencySpec.value(8, 1, 1000, 2*time.Millisecond); got != 1 {
		t.Errorf("1000 round trips in 2 ms: %v µs one way, want 1", got)
	}
	if got := bandwidthSpec.value(1e6, 64, 10, 64*time.Millisecond); got != 10000 {
		t.Errorf("640 messages of 1 MB in 64 ms: %v MB/s, want 10000", got)
	}
	if got := bothWaysSpec.value(1e6, 64, 10, 64*time.Millisecond); got != 20000 {
		t.Errorf("640 messages of 1 MB each way in 64 ms: %v MB/s, want 20000", got)
	}
}

func TestClock(t *testing.T) {
	if cost := clockCost(); cost <= 0 || cost > 1e6 {
		t.Errorf("a reading of the clock costs %v ns", cost)
	}
}
