package match

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type request struct {
	id   int
	node Recv[request]
}

type message struct {
	id   int
	key  Key
	at   Seq
	node Msg[message]
}

func newRequest(id int) *request {
	r := &request{id: id}
	r.node.Bind(r)
	return r
}

func newMessage(id int, k Key) *message {
	m := &message{id: id, key: k}
	m.node.Bind(m)
	return m
}

// step is one operation on the table and on the model.
type step struct {
	op   uint8
	key  Key // of a receive or a probe; widen(0) of it is a message's
	pick int // chooses among the queued or the taken
}

func (s step) String() string {
	return fmt.Sprintf("%s %v %d", opNames[s.op], s.key, s.pick)
}

const (
	opPost = iota
	opArrive
	opProbe
	opCancel
	opTake
	opPutBack
	opTrim
	numOps
)

var opNames = [numOps]string{"post", "arrive", "probe", "cancel", "take", "putback", "trim"}

// model is the oracle: two plain lists, each in order. It runs every
// operation on the table too and compares the answers.
type model struct {
	table  Table[request, message]
	posted []*request
	keys   map[*request]Key
	unexp  []*message
	taken  []*message // matched, may be put back
	ids    int
}

func newModel() *model { return &model{keys: map[*request]Key{}} }

func (w *model) acceptor(k Key) *request {
	i := slices.IndexFunc(w.posted, func(r *request) bool { return w.keys[r].Accepts(k) })
	if i < 0 {
		return nil
	}
	r := w.posted[i]
	w.posted = slices.Delete(w.posted, i, i+1)
	return r
}

func (w *model) acceptable(k Key) int {
	return slices.IndexFunc(w.unexp, func(m *message) bool { return k.Accepts(m.key) })
}

func (w *model) do(s step) error {
	w.ids++
	concrete := s.key
	concrete.Source, concrete.Tag = max(concrete.Source, 0), max(concrete.Tag, 0)
	switch s.op {
	case opPost:
		return w.post(s.key)
	case opArrive:
		return w.arrive(concrete)
	case opProbe:
		var want *message
		if i := w.acceptable(s.key); i >= 0 {
			want = w.unexp[i]
		}
		return sameMessage(w.table.Probe(s.key), want)
	case opCancel:
		return w.cancel(s.pick)
	case opTake:
		if len(w.unexp) == 0 {
			return nil
		}
		i := s.pick % len(w.unexp)
		m := w.unexp[i]
		w.unexp = slices.Delete(w.unexp, i, i+1)
		w.taken = append(w.taken, m)
		if !w.table.RemoveUnexpected(&m.node) || w.table.RemoveUnexpected(&m.node) {
			return fmt.Errorf("message %d is not removed once", m.id)
		}
	case opPutBack:
		return w.putBack(s.pick)
	case opTrim:
		w.table.Trim()
	}
	return nil
}

func (w *model) post(k Key) error {
	r := newRequest(w.ids)
	got := w.table.Post(&r.node, k)
	i := w.acceptable(k)
	if i < 0 {
		w.posted = append(w.posted, r)
		w.keys[r] = k
		return sameMessage(got, nil)
	}
	m := w.unexp[i]
	w.unexp = slices.Delete(w.unexp, i, i+1)
	w.taken = append(w.taken, m)
	return sameMessage(got, m)
}

func (w *model) arrive(k Key) error {
	m := newMessage(w.ids, k)
	var got *request
	got, m.at = w.table.Arrive(k)
	want := w.acceptor(k)
	if err := sameRequest(got, want); err != nil {
		return err
	}
	if want != nil {
		w.taken = append(w.taken, m)
		return nil
	}
	w.unexp = append(w.unexp, m)
	w.table.AddUnexpected(&m.node, k, m.at)
	return nil
}

func (w *model) cancel(pick int) error {
	if len(w.posted) == 0 {
		return nil
	}
	i := pick % len(w.posted)
	r := w.posted[i]
	w.posted = slices.Delete(w.posted, i, i+1)
	if !w.table.Remove(&r.node) || w.table.Remove(&r.node) {
		return fmt.Errorf("receive %d is not removed once", r.id)
	}
	return nil
}

func (w *model) putBack(pick int) error {
	if len(w.taken) == 0 {
		return nil
	}
	i := pick % len(w.taken)
	m := w.taken[i]
	want := w.acceptor(m.key)
	if err := sameRequest(w.table.Offer(m.key), want); err != nil || want != nil {
		return err
	}
	w.taken = slices.Delete(w.taken, i, i+1)
	at, _ := slices.BinarySearchFunc(w.unexp, m, func(a, b *message) int { return cmp.Compare(a.at, b.at) })
	w.unexp = slices.Insert(w.unexp, at, m)
	if m.node.Seq() == 0 {
		w.table.AddUnexpected(&m.node, m.key, m.at) // had matched at once
	} else {
		w.table.PutBack(&m.node)
	}
	return nil
}

// compare checks the table's invariants and its lists against the model's.
func (w *model) compare() error {
	if err := w.table.check(); err != nil {
		return err
	}
	if w.table.NumPosted() != len(w.posted) || w.table.NumUnexpected() != len(w.unexp) {
		return fmt.Errorf("%d posted, %d unexpected, want %d, %d",
			w.table.NumPosted(), w.table.NumUnexpected(), len(w.posted), len(w.unexp))
	}
	i := 0
	for r := range w.table.Posted(nil) {
		if err := sameRequest(r, w.posted[i]); err != nil {
			return err
		}
		i++
	}
	i = 0
	for m := range w.table.Unexpected(nil) {
		if err := sameMessage(m, w.unexp[i]); err != nil {
			return err
		}
		i++
	}
	return nil
}

func sameMessage(got, want *message) error {
	switch {
	case got == want:
		return nil
	case got == nil:
		return fmt.Errorf("no message, want %d", want.id)
	case want == nil:
		return fmt.Errorf("message %d, want none", got.id)
	}
	return fmt.Errorf("message %d, want %d", got.id, want.id)
}

func sameRequest(got, want *request) error {
	switch {
	case got == want:
		return nil
	case got == nil:
		return fmt.Errorf("no receive, want %d", want.id)
	case want == nil:
		return fmt.Errorf("receive %d, want none", got.id)
	}
	return fmt.Errorf("receive %d, want %d", got.id, want.id)
}

// decode reads a step off four bytes. Tags beyond a few are rare, so that
// most steps meet, and some make many bins.
func decode(b []byte) step {
	k := Key{uint32(b[1] >> 6), int32(b[1] & 7), int32(b[2] & 3)}
	if b[1]&7 == 7 {
		k.Source = AnySource
	}
	if b[1]&8 != 0 {
		k.Tag = int32(b[2])
	}
	if b[1]&48 == 48 {
		k.Tag = AnyTag
	}
	op := [16]uint8{
		opPost, opPost, opPost, opPost, opPost, opArrive, opArrive, opArrive, opArrive, opArrive,
		opProbe, opCancel, opTake, opPutBack, opPutBack, opTrim,
	}[b[0]&15]
	return step{op, k, int(b[3]) | int(b[0]>>4)<<8}
}

func runSteps(steps []step, every int) error {
	w := newModel()
	for i, s := range steps {
		if err := w.do(s); err != nil {
			return fmt.Errorf("step %d, %v: %w", i, s, err)
		}
		if i%every == 0 || i == len(steps)-1 {
			if err := w.compare(); err != nil {
				return fmt.Errorf("after step %d, %v: %w", i, s, err)
			}
		}
	}
	return nil
}

func decodeAll(b []byte) []step {
	steps := make([]step, 0, len(b)/4)
	for ; len(b) >= 4; b = b[4:] {
		steps = append(steps, decode(b))
	}
	return steps
}

// TestModel looks for a short sequence of steps in which the table and the
// model differ.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.Custom(func(t *rapid.T) step {
			return decode(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "bytes"))
		})
		steps := rapid.SliceOfN(gen, 1, 400).Draw(t, "steps")
		if err := runSteps(steps, 1); err != nil {
			t.Fatal(err)
		}
	})
}

// TestModelLong is rule 2's oracle: 100,000 steps in one table.
func TestModelLong(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b := make([]byte, 4*100_000)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		if err := runSteps(decodeAll(b), 1000); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 5, 0, 0, 0})
	f.Add([]byte{5, 1, 1, 0, 5, 2, 1, 0, 0, 7, 1, 0, 13, 0, 0, 0, 0, 55, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := runSteps(decodeAll(b[:min(len(b), 4000)]), 1); err != nil {
			t.Fatal(err)
		}
	})
}
