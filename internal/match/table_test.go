package match

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// fill posts n receives with different tags from source 3.
func fill(t *Table[request, message], n int) []*request {
	all := make([]*request, n)
	for i := range all {
		all[i] = newRequest(i, Key{1, 3, int32(i)})
		t.Post(&all[i].node, all[i].key)
	}
	return all
}

// queue adds n unexpected messages with different tags from source 3.
func queue(t *Table[request, message], n int) []*message {
	all := make([]*message, n)
	for i := range all {
		all[i] = newMessage(i, Key{1, 3, int32(i)})
		_, at := t.Arrive(all[i].key)
		t.AddUnexpected(&all[i].node, all[i].key, at)
	}
	return all
}

func ids(t *Table[request, message], keep func(Key) bool) []int {
	got := []int{}
	for r := range t.Posted(keep) {
		got = append(got, r.id)
	}
	return got
}

func TestIterators(t *testing.T) {
	var table Table[request, message]
	for i, k := range []Key{{1, 3, 5}, {2, 3, 5}, {1, AnySource, 6}, {1, 3, 5}, {1, 4, 5}, {2, 3, AnyTag}} {
		table.Post(&newRequest(i, k).node, k)
	}
	queue(&table, 0)
	for i, k := range []Key{{7, 2, 0}, {7, 1, 0}, {8, 2, 0}, {7, 2, 0}} {
		_, at := table.Arrive(k)
		table.AddUnexpected(&newMessage(i, k).node, k, at)
	}
	table.Probe(Key{7, AnySource, 9}) // so that messages are in several lists

	tests := []struct {
		name string
		keep func(Key) bool
		want []int
	}{
		{"all", nil, []int{0, 1, 2, 3, 4, 5}},
		{"source", func(k Key) bool { return k.Source == 3 }, []int{0, 1, 3, 5}},
		{"context", func(k Key) bool { return k.Context == 1 }, []int{0, 2, 3, 4}},
		{"none", func(Key) bool { return false }, []int{}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, ids(&table, test.keep)); diff != "" {
			t.Errorf("posted, %s: %s", test.name, diff)
		}
	}
	var got []int
	for m := range table.Unexpected(func(k Key) bool { return k.Source == 2 && k.Context == 7 }) {
		got = append(got, m.id)
	}
	if diff := cmp.Diff([]int{0, 3}, got); diff != "" {
		t.Errorf("unexpected: %s", diff)
	}
}

// TestIterateAndChange takes out and queues receives in the loop, as failing
// requests does when their owners react.
func TestIterateAndChange(t *testing.T) {
	var table Table[request, message]
	all := fill(&table, 200)
	var got []int
	for r := range table.Posted(nil) {
		got = append(got, r.id)
		table.Remove(&r.node)
		next := &all[r.id+1].node
		table.Remove(next)
		table.Post(next, Key{2, 3, int32(r.id)})
		if r.id == 100 {
			break
		}
	}
	want := []int{}
	for i := 0; i <= 100; i += 2 {
		want = append(want, i)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := table.check(); err != nil {
		t.Error(err)
	}

	table = Table[request, message]{}
	messages := queue(&table, 10)
	seen := 0
	for m := range table.Unexpected(nil) {
		seen++
		table.RemoveUnexpected(&m.node)
		table.RemoveUnexpected(&messages[9-m.id].node)
	}
	if seen != 5 || table.NumUnexpected() != 0 {
		t.Errorf("visited %d, left %d, want 5, 0", seen, table.NumUnexpected())
	}
}

func TestMisuse(t *testing.T) {
	k := Key{1, 3, 5}
	tests := []struct {
		name string
		call func(t *Table[request, message])
	}{
		{"post twice", func(t *Table[request, message]) {
			r := newRequest(1, k)
			t.Post(&r.node, k)
			t.Post(&r.node, k)
		}},
		{"queue twice", func(t *Table[request, message]) {
			m := newMessage(1, k)
			t.AddUnexpected(&m.node, k, 1)
			t.PutBack(&m.node)
		}},
		{"a message that isn't its record's first field", func(*Table[request, message]) {
			new(Msg[message]).Bind(newMessage(1, k))
		}},
		{"a queued message linked", func(t *Table[request, message]) {
			m := newMessage(1, k)
			t.AddUnexpected(&m.node, k, 1)
			m.node.Link(nil)
		}},
		{"any source in a message", func(t *Table[request, message]) {
			t.AddUnexpected(&newMessage(1, k).node, Key{1, AnySource, 5}, 1)
		}},
		{"any tag in a message", func(t *Table[request, message]) {
			t.AddUnexpected(&newMessage(1, k).node, Key{1, 3, AnyTag}, 1)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			test.call(new(Table[request, message]))
		})
	}
}

// TestNothingKept checks that what has left a table holds no pointers into it,
// through which a pooled request would keep others alive.
func TestNothingKept(t *testing.T) {
	var table Table[request, message]
	k := Key{1, 3, 5}
	var requests []*request
	for i := range 5 {
		r := newRequest(i, k)
		requests = append(requests, r)
		table.Post(&r.node, k)
	}
	table.Remove(&requests[2].node)
	table.Remove(&requests[4].node)
	for range 3 {
		table.Arrive(k)
	}
	for _, r := range requests {
		if n := r.node.node; n.next != nil || n.prev != nil || n.chain != nil {
			t.Errorf("%v keeps links", r)
		}
	}
	if slices.ContainsFunc(table.posted.index.buckets, func(n *node) bool { return n != nil }) {
		t.Error("the table keeps nodes")
	}
}

func TestNodeSizes(t *testing.T) {
	if got := unsafe.Sizeof(Recv[request]{}); got != 56 {
		t.Errorf("a Recv takes %d bytes, the package comment says 56", got)
	}
	if got := unsafe.Sizeof(Msg[message]{}); got != 56 {
		t.Errorf("a Msg takes %d bytes, the package comment says 56", got)
	}
	if got := unsafe.Sizeof(wildNode{}); got != WildSize {
		t.Errorf("a form of wildcards takes %d bytes, WildSize is %d", got, WildSize)
	}
}
