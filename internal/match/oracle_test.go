package match

import (
	"cmp"
	"fmt"
	"slices"
)

type request struct {
	id   int
	key  Key
	node Recv[request]
}

type message struct {
	node Msg[message]
	id   int
	key  Key
	at   Seq
}

func newRequest(id int, k Key) *request {
	r := &request{id: id, key: k}
	r.node.Bind(r)
	return r
}

func newMessage(id int, k Key) *message {
	m := &message{id: id, key: k}
	m.node.Bind(m)
	return m
}

// oracle is what a Table must behave like: two plain lists, each in order. It
// runs every operation on a table too and compares the answers.
type oracle struct {
	table  Table[request, message]
	posted []*request
	unexp  []*message
	taken  []*message // matched or removed; may be put back
	served []*request // matched on a message's arrival; may be posted again
	ids    int
}

// receiver takes the first posted receive that accepts k.
func (o *oracle) receiver(k Key) *request {
	for i, r := range o.posted {
		if r.key.Accepts(k) {
			o.posted = slices.Delete(o.posted, i, i+1)
			o.served = append(o.served, r)
			return r
		}
	}
	return nil
}

// message returns the index of the first unexpected message that k accepts,
// or -1.
func (o *oracle) message(k Key) int {
	return slices.IndexFunc(o.unexp, func(m *message) bool { return k.Accepts(m.key) })
}

// take takes the unexpected message with index i.
func (o *oracle) take(i int) *message {
	m := o.unexp[i]
	o.unexp = slices.Delete(o.unexp, i, i+1)
	o.taken = append(o.taken, m)
	return m
}

func (o *oracle) post(k Key) error {
	o.ids++
	r := newRequest(o.ids, k)
	got := o.table.Post(&r.node, k)
	if i := o.message(k); i >= 0 {
		return same(got, o.take(i))
	}
	o.posted = append(o.posted, r)
	return same(got, nil)
}

func (o *oracle) arrive(k Key) error {
	o.ids++
	m := newMessage(o.ids, k)
	got, at := o.table.Arrive(k)
	m.at = at
	if want := o.receiver(k); want != nil || got != nil {
		o.taken = append(o.taken, m)
		return same(got, want)
	}
	o.unexp = append(o.unexp, m)
	o.table.AddUnexpected(&m.node, k, at)
	return nil
}

// repost undoes a receive's match, whose message is gone.
func (o *oracle) repost(pick int) error {
	if len(o.served) == 0 {
		return nil
	}
	n := pick % len(o.served)
	r := o.served[n]
	got := o.table.Repost(&r.node)
	if i := o.message(r.key); i >= 0 {
		return same(got, o.take(i))
	}
	o.served = slices.Delete(o.served, n, n+1)
	at, _ := slices.BinarySearchFunc(o.posted, r, func(a, b *request) int { return cmp.Compare(a.id, b.id) })
	o.posted = slices.Insert(o.posted, at, r)
	return same(got, nil)
}

func (o *oracle) probe(k Key) error {
	got := o.table.Probe(k)
	if i := o.message(k); i >= 0 {
		return same(got, o.unexp[i])
	}
	return same(got, nil)
}

func (o *oracle) cancel(pick int) error {
	if len(o.posted) == 0 {
		return nil
	}
	i := pick % len(o.posted)
	r := o.posted[i]
	o.posted = slices.Delete(o.posted, i, i+1)
	if !o.table.Remove(&r.node) || o.table.Remove(&r.node) {
		return fmt.Errorf("receive %d is not withdrawn once", r.id)
	}
	return nil
}

func (o *oracle) remove(pick int) error {
	if len(o.unexp) == 0 {
		return nil
	}
	m := o.take(pick % len(o.unexp))
	if !o.table.RemoveUnexpected(&m.node) || o.table.RemoveUnexpected(&m.node) {
		return fmt.Errorf("message %d is not removed once", m.id)
	}
	return nil
}

func (o *oracle) putBack(pick int) error {
	if len(o.taken) == 0 {
		return nil
	}
	i := pick % len(o.taken)
	m := o.taken[i]
	got, want := o.table.Offer(m.key), o.receiver(m.key)
	if got != nil || want != nil {
		return same(got, want)
	}
	o.taken = slices.Delete(o.taken, i, i+1)
	at, _ := slices.BinarySearchFunc(o.unexp, m, func(a, b *message) int { return cmp.Compare(a.at, b.at) })
	o.unexp = slices.Insert(o.unexp, at, m)
	if m.node.Seq() == 0 {
		o.table.AddUnexpected(&m.node, m.key, m.at) // was matched on arrival
	} else {
		o.table.PutBack(&m.node)
	}
	return nil
}

// compare checks the table's invariants and compares its lists.
func (o *oracle) compare() error {
	if err := o.table.check(); err != nil {
		return err
	}
	if p, u := o.table.NumPosted(), o.table.NumUnexpected(); p != len(o.posted) || u != len(o.unexp) {
		return fmt.Errorf("%d posted, %d unexpected, want %d, %d", p, u, len(o.posted), len(o.unexp))
	}
	if got := slices.Collect(o.table.Posted(nil)); !slices.Equal(got, o.posted) {
		return fmt.Errorf("posted receives differ: %v, want %v", got, o.posted)
	}
	if got := slices.Collect(o.table.Unexpected(nil)); !slices.Equal(got, o.unexp) {
		return fmt.Errorf("unexpected messages differ: %v, want %v", got, o.unexp)
	}
	return nil
}

func same[T fmt.Stringer](got, want T) error {
	if g, w := got.String(), want.String(); g != w {
		return fmt.Errorf("got %s, want %s", g, w)
	}
	return nil
}

func (r *request) String() string {
	if r == nil {
		return "no receive"
	}
	return fmt.Sprintf("receive %d %v", r.id, r.key)
}

func (m *message) String() string {
	if m == nil {
		return "no message"
	}
	return fmt.Sprintf("message %d %v", m.id, m.key)
}
