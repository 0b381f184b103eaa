package eager

import (
	"testing"

	"pgregory.net/rapid"
)

// The table finds what a map finds, whatever numbers the device chose.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Numbers that collide in small tables, and ones from everywhere.
		number := rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(0, 40), rapid.Map(rapid.Uint32Range(0, 40), func(n uint32) uint32 { return n << 12 }))
		var tab table
		model := map[uint32]*Endpoint{}
		if tab.find(number.Draw(t, "number")) != nil {
			t.Fatal("found in an empty table")
		}
		for range rapid.IntRange(0, 200).Draw(t, "adds") {
			num := number.Draw(t, "number")
			if model[num] == nil {
				model[num] = &Endpoint{num: num}
				tab.add(model[num])
			}
			probe := number.Draw(t, "probe")
			if got := tab.find(probe); got != model[probe] {
				t.Fatalf("find(%d) = %v, want %v", probe, got, model[probe])
			}
		}
		for num, ep := range model {
			if tab.find(num) != ep {
				t.Fatalf("find(%d) does not find it among %d", num, tab.n)
			}
		}
		if 2*tab.n > len(tab.slots) && tab.n > 0 {
			t.Fatalf("%d in %d slots", tab.n, len(tab.slots))
		}
	})
}
