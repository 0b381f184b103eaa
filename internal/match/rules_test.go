package match

import (
	"fmt"
	"math"
	"testing"
)

// act is one call. Receives are numbered in the order of their posting and
// messages in that of their arrival, each from 1.
type act struct {
	call string // post, arrive, probe; cancel, return
	key  Key    // of the first three
	n    int    // receive to cancel, message to put back
	want int    // number of the partner, 0 if there must be none
}

func post(c uint32, src, tag int32, want int) act { return act{"post", Key{c, src, tag}, 0, want} }

func arrive(c uint32, src, tag int32, want int) act { return act{"arrive", Key{c, src, tag}, 0, want} }

func probe(c uint32, src, tag int32, want int) act { return act{"probe", Key{c, src, tag}, 0, want} }

// cancel withdraws receive n; want 1 if it must be found queued.
func cancel(n, want int) act { return act{"cancel", Key{}, n, want} }

// putBack undoes the match of message n; want the receive that takes it now.
func putBack(n, want int) act { return act{"putBack", Key{}, n, want} }

// TestRules has one or more cases for each rule of point-to-point semantics
// that matching decides.
func TestRules(t *testing.T) {
	const any = AnySource // equals AnyTag
	tests := []struct {
		rule int
		name string
		acts []act
	}{
		{1, "earliest posted receive wins", []act{
			post(1, 0, 5, 0), post(1, 0, 5, 0), arrive(1, 0, 5, 1), arrive(1, 0, 5, 2), arrive(1, 0, 5, 0),
		}},
		{1, "messages of one sender match in send order", []act{
			arrive(1, 0, 5, 0), arrive(1, 0, 5, 0), post(1, 0, 5, 1), post(1, 0, 5, 2), post(1, 0, 5, 0),
		}},
		{1, "source and tag select", []act{
			post(1, 0, 5, 0), post(1, 1, 5, 0), post(1, 0, 6, 0),
			arrive(1, 0, 6, 3), arrive(1, 1, 5, 2), arrive(1, 1, 6, 0), arrive(1, 0, 5, 1),
		}},
		{1, "other tags overtake", []act{
			arrive(1, 0, 5, 0), arrive(1, 0, 6, 0), post(1, 0, 6, 2), post(1, 0, 5, 1),
		}},
		{2, "wildcard posted before exact", []act{
			post(1, any, 5, 0), post(1, 0, 5, 0), arrive(1, 0, 5, 1), arrive(1, 0, 5, 2),
		}},
		{2, "exact posted before wildcard", []act{
			post(1, 0, 5, 0), post(1, any, any, 0), arrive(1, 0, 5, 1), arrive(1, 0, 5, 2),
		}},
		{2, "all four forms in any order", []act{
			post(1, 0, any, 0), post(1, any, any, 0), post(1, 0, 5, 0), post(1, any, 5, 0),
			arrive(1, 0, 5, 1), arrive(1, 0, 5, 2), arrive(1, 0, 5, 3), arrive(1, 0, 5, 4), arrive(1, 0, 5, 0),
		}},
		{2, "a wildcard passes over what it does not accept", []act{
			post(1, any, 5, 0), post(1, 0, any, 0), arrive(1, 1, 6, 0), arrive(1, 0, 6, 2), arrive(1, 2, 5, 1),
		}},
		{2, "wildcard receives take messages in order of arrival", []act{
			arrive(1, 2, 5, 0), arrive(1, 0, 6, 0), arrive(1, 1, 5, 0), arrive(1, 0, 5, 0),
			post(1, any, any, 1), post(1, any, 5, 3), post(1, 0, any, 2), post(1, any, any, 4),
		}},
		{2, "exact and wildcard receives drain the same messages", []act{
			arrive(1, 0, 5, 0), arrive(1, 0, 5, 0), arrive(1, 0, 5, 0),
			post(1, 0, any, 1), post(1, 0, 5, 2), post(1, any, any, 3), post(1, 0, 5, 0),
		}},
		{3, "a message to oneself is as any other", []act{
			post(1, any, 5, 0), arrive(1, 0, 5, 1), arrive(1, 0, 5, 0), post(1, any, any, 2),
		}},
		{4, "a probe finds what the receive would take and leaves it", []act{
			probe(1, 0, 5, 0), arrive(1, 0, 5, 0), arrive(1, 1, 5, 0),
			probe(1, any, any, 1), probe(1, any, any, 1), probe(1, 1, any, 2), probe(1, any, 6, 0),
			post(1, any, any, 1), probe(1, any, any, 2),
		}},
		{6, "extreme tags and ranks are distinct", []act{
			post(1, 0, 0, 0), post(1, 0, math.MaxInt32, 0), post(1, math.MaxInt32, 0, 0),
			arrive(1, math.MaxInt32, 0, 3), arrive(1, 0, math.MaxInt32, 2), arrive(1, 0, 0, 1),
		}},
		{6, "any tag accepts the extreme tags", []act{
			post(1, 0, any, 0), post(1, 0, any, 0), arrive(1, 0, math.MaxInt32, 1), arrive(1, 0, 0, 2),
		}},
		{7, "communicators are apart", []act{
			post(1, 0, 5, 0), arrive(2, 0, 5, 0), post(math.MaxUint32, 0, 5, 0), arrive(0, 0, 5, 0), post(2, 0, 5, 1),
		}},
		{7, "wildcards stay in their communicator", []act{
			post(1, any, any, 0), arrive(2, 0, 5, 0), probe(1, any, any, 0), probe(2, any, any, 1), arrive(1, 0, 5, 1),
		}},
		{12, "a withdrawn receive's message goes to the next", []act{
			post(1, 0, 5, 0), post(1, any, 5, 0), cancel(1, 1), arrive(1, 0, 5, 2),
		}},
		{12, "a matched receive is not withdrawn", []act{
			post(1, 0, 5, 0), arrive(1, 0, 5, 1), cancel(1, 0),
		}},
		{12, "withdrawn once, from the middle, the end and the front", []act{
			post(1, 0, 5, 0), post(1, 0, 5, 0), post(1, 0, 5, 0), post(1, 0, 5, 0), post(1, 0, 5, 0),
			cancel(3, 1), cancel(5, 1), cancel(1, 1), cancel(3, 0),
			arrive(1, 0, 5, 2), arrive(1, 0, 5, 4), arrive(1, 0, 5, 0),
		}},
		{12, "an aborted match returns to its place", []act{
			arrive(1, 0, 5, 0), arrive(1, 0, 5, 0), arrive(1, 1, 5, 0), arrive(1, 0, 5, 0),
			post(1, 0, 5, 1), post(1, 0, 5, 2), putBack(2, 0), putBack(1, 0),
			probe(1, any, any, 1), post(1, 0, 5, 1), post(1, any, any, 2), post(1, any, 5, 3), post(1, 0, any, 4),
		}},
		{12, "an aborted match on arrival returns to its place", []act{
			post(1, 0, 5, 0), arrive(1, 0, 5, 1), arrive(1, 0, 5, 0), putBack(1, 0), post(1, 0, 5, 1), post(1, 0, 5, 2),
		}},
		{12, "an aborted match goes to the next receive", []act{
			post(1, 0, 5, 0), post(1, any, any, 0), arrive(1, 0, 5, 1), putBack(1, 2),
		}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("rule %d %s", test.rule, test.name), func(t *testing.T) {
			perform(t, test.acts)
		})
	}
}

func perform(t *testing.T, acts []act) {
	var table Table[request, message]
	var requests []*request
	var messages []*message
	for i, a := range acts {
		got := 0
		switch a.call {
		case "post":
			r := newRequest(len(requests)+1, a.key)
			requests = append(requests, r)
			if m := table.Post(&r.node, a.key); m != nil {
				got = m.id
			}
		case "arrive":
			m := newMessage(len(messages)+1, a.key)
			messages = append(messages, m)
			r, at := table.Arrive(a.key)
			m.at = at
			if r != nil {
				got = r.id
			} else {
				table.AddUnexpected(&m.node, a.key, at)
			}
		case "probe":
			if m := table.Probe(a.key); m != nil {
				got = m.id
			}
		case "cancel":
			if table.Remove(&requests[a.n-1].node) {
				got = 1
			}
		case "putBack":
			m := messages[a.n-1]
			if r := table.Offer(m.key); r != nil {
				got = r.id
			} else {
				table.AddUnexpected(&m.node, m.key, m.at)
			}
		}
		if got != a.want {
			t.Fatalf("call %d, %s: got %d, want %d", i, a.call, got, a.want)
		}
		if err := table.check(); err != nil {
			t.Fatalf("after call %d, %s: %v", i, a.call, err)
		}
	}
}
