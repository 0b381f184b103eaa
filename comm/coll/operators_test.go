package coll_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/comm/coll"
)

func TestOperators(t *testing.T) {
	nan := math.NaN()
	operate(t, "Sum", coll.Sum[float64], []float64{1, -2}, []float64{2, 5}, []float64{3, 3})
	operate(t, "Prod", coll.Prod[complex128], []complex128{2i, 3}, []complex128{1i, 2}, []complex128{-2, 6})
	operate(t, "Min", coll.Min[int8], []int8{1, -3, 5}, []int8{2, -5, 5}, []int8{1, -5, 5})
	operate(t, "Max", coll.Max[uint64], []uint64{1, 9}, []uint64{math.MaxUint64, 2}, []uint64{math.MaxUint64, 9})
	operate(t, "Min", coll.Min[float64], []float64{1, nan, 3}, []float64{nan, 2, 2}, []float64{nan, nan, 2})
	operate(t, "Max", coll.Max[float64], []float64{1, nan, 3}, []float64{nan, 2, 2}, []float64{1, 2, 3})
	operate(t, "And", coll.And[uint8], []uint8{0b1100}, []uint8{0b1010}, []uint8{0b1000})
	operate(t, "Or", coll.Or[uint8], []uint8{0b1100}, []uint8{0b1010}, []uint8{0b1110})
	operate(t, "Xor", coll.Xor[uint8], []uint8{0b1100}, []uint8{0b1010}, []uint8{0b0110})
}

func operate[T comparable](t *testing.T, name string, op coll.Op[T], into, from, want []T) {
	t.Helper()
	op(into, from)
	same := cmp.Comparer(func(a, b T) bool { return a == b || a != a && b != b })
	if diff := cmp.Diff(want, into, same); diff != "" {
		t.Errorf("%s (-want +got)\n%s", name, diff)
	}
}

func TestCut(t *testing.T) {
	buf := []int{1, 2, 3, 4, 5}
	got := coll.Cut(buf, []int{2, 0, 3})
	if diff := cmp.Diff([][]int{{1, 2}, {}, {3, 4, 5}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got[0] = append(got[0], 9); buf[2] != 3 {
		t.Error("a part reaches into the next one")
	}
	for _, bad := range [][]int{{6}, {3, 3}, {-1, 2}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Cut of %v didn't panic", bad)
				}
			}()
			coll.Cut(buf, bad)
		}()
	}
}
