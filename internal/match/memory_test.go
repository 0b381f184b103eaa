package match

import "testing"

// TestAllocs checks that nothing allocates once buckets and records are there
// (rule 4: neither does a probe that misses).
func TestAllocs(t *testing.T) {
	var table Table[request, message]
	r := newRequest(1, Key{})
	m := newMessage(1, Key{})
	receive := func(k Key) func() {
		return func() {
			table.Post(&r.node, k)
			if got, _ := table.Arrive(concrete(k)); got != r {
				t.Error("not matched")
			}
		}
	}
	unexpected := func(k Key) func() {
		return func() {
			_, at := table.Arrive(concrete(k))
			table.AddUnexpected(&m.node, concrete(k), at)
			if table.Probe(k) != m || table.Post(&r.node, k) != m {
				t.Error("not matched")
			}
			table.PutBack(&m.node)
			table.RemoveUnexpected(&m.node)
		}
	}
	tests := []struct {
		name string
		run  func()
	}{
		{"exact", receive(Key{2, 3, 5})},
		{"any source", receive(Key{2, AnySource, 5})},
		{"any tag", receive(Key{2, 3, AnyTag})},
		{"any", receive(Key{2, AnySource, AnyTag})},
		{"unexpected", unexpected(Key{2, 3, 5})},
		{"unexpected, any source", unexpected(Key{2, AnySource, 5})},
		{"unexpected, any tag", unexpected(Key{2, 3, AnyTag})},
		{"unexpected, any", unexpected(Key{2, AnySource, AnyTag})},
		{"probe miss", func() { table.Probe(Key{2, AnySource, 9}) }},
		{"withdrawal", func() {
			table.Post(&r.node, Key{2, 3, 5})
			table.Remove(&r.node)
		}},
	}
	for _, test := range tests {
		// Many turns in one run, since AllocsPerRun rounds down.
		turns := func() {
			for range 1000 {
				test.run()
			}
		}
		if n := testing.AllocsPerRun(1, turns); n != 0 {
			t.Errorf("%s: %v allocations in 1000 turns", test.name, n)
		}
	}
}

// TestShrinks checks that a burst's buckets are given back in the course of
// ordinary work (rule 18), and all at once by Trim.
func TestShrinks(t *testing.T) {
	const burst = 100_000
	var table Table[request, message]
	drain := func() {
		for _, r := range fill(&table, burst) {
			table.Arrive(r.key)
		}
		for _, m := range queue(&table, burst) {
			table.RemoveUnexpected(&m.node)
		}
		if err := table.check(); err != nil {
			t.Fatal(err)
		}
	}
	drain()
	if n := len(table.posted.index.buckets); n < burst || n > 2*burst {
		t.Errorf("%d buckets after %d receives", n, burst)
	}
	r, m := newRequest(1, Key{}), newMessage(1, Key{})
	for i := range int32(4 * burst) {
		k := Key{1, 3, i}
		table.Post(&r.node, k)
		table.Arrive(k)
		_, at := table.Arrive(k)
		table.AddUnexpected(&m.node, k, at)
		table.Post(&r.node, k)
	}
	if p, u := len(table.posted.index.buckets), len(table.unexp.index.buckets); p != minBuckets || u != minBuckets {
		t.Errorf("%d, %d buckets at rest, want %d", p, u, minBuckets)
	}

	drain()
	table.Trim()
	if table.posted.index.buckets != nil || table.unexp.index.buckets != nil {
		t.Error("Trim left buckets in an empty table")
	}
	all := fill(&table, burst)
	for _, r := range all[100:] {
		table.Remove(&r.node)
	}
	table.Trim()
	if n := len(table.posted.index.buckets); n != 256 {
		t.Errorf("%d buckets for 100 receives after Trim, want 256", n)
	}
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
}

// TestCycleKeepsSize checks that queueing and draining in turns doesn't resize
// in each turn.
func TestCycleKeepsSize(t *testing.T) {
	for _, n := range []int{10, 50, 1000, 5000} {
		var table Table[request, message]
		all := fill(&table, n)
		cycle := func() {
			for _, r := range all {
				table.Arrive(r.key)
			}
			for _, r := range all {
				table.Post(&r.node, r.key)
			}
		}
		cycle()
		cycles := func() {
			for range 50 {
				cycle()
			}
		}
		if a := testing.AllocsPerRun(1, cycles); a > 10 { // the runtime may make some of its own
			t.Errorf("%d receives: %v allocations in 50 cycles", n, a)
		}
	}
}
