package match

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type op uint8

const (
	opNone op = iota
	opPost
	opArrive
	opProbe
	opCancel
	opRemove
	opPutBack
	opRepost
	opTrim
	opFail // the model's own failure, to see how one is reported
)

// step is one operation on a table.
type step struct {
	op   op
	key  Key // of a receive or a probe; a message's is concrete(key)
	pick int // chooses among the queued or the taken
}

func (s step) String() string {
	switch s.op {
	case opPost, opProbe:
		return fmt.Sprintf("%s%v", [...]string{opPost: "post", opProbe: "probe"}[s.op], s.key)
	case opArrive:
		return fmt.Sprintf("arrive%v", concrete(s.key))
	case opCancel, opRemove, opPutBack, opRepost:
		return fmt.Sprintf("%s(%d)", [...]string{opCancel: "cancel", opRemove: "remove", opPutBack: "putback", opRepost: "repost"}[s.op], s.pick)
	case opTrim:
		return "trim"
	case opFail:
		return "fail"
	}
	return "none"
}

// concrete returns a key that k accepts.
func concrete(k Key) Key {
	k.Source, k.Tag = max(k.Source, 0), max(k.Tag, 0)
	return k
}

// maxQueued bounds the queues, for the oracle's sake.
const maxQueued = 500

func (o *oracle) do(s step) error {
	switch {
	case (s.op == opPost || s.op == opRepost) && len(o.posted) >= maxQueued:
		s.op = opCancel
	case s.op == opArrive && len(o.unexp) >= maxQueued:
		s.op = opRemove
	}
	switch s.op {
	case opPost:
		return o.post(s.key)
	case opArrive:
		return o.arrive(concrete(s.key))
	case opProbe:
		return o.probe(s.key)
	case opCancel:
		return o.cancel(s.pick)
	case opRemove:
		return o.remove(s.pick)
	case opPutBack:
		return o.putBack(s.pick)
	case opRepost:
		return o.repost(s.pick)
	case opTrim:
		o.table.Trim()
	case opFail:
		return errors.New("as asked for")
	}
	return nil
}

// mix shapes the steps that bytes are decoded to, so that long and short
// queues, many and few lists, with and without wildcards all occur: wildcards
// in bits 0 and 1, tags in 2 and 3, the change from posts to arrivals in 4 and
// 5.
type mix byte

// wilds returns how many in 16 sources are wildcards, and likewise tags.
func (m mix) wilds() byte { return [4]byte{0, 1, 4, 8}[m&3] }

// tags returns how many tags there are.
func (m mix) tags() int { return [4]int{2, 16, 256, 1 << 16}[m>>2&3] }

// posts reports whether step i should rather be a post than an arrival, for
// the half of them that has a preference.
func (m mix) posts(i int) bool { return i/[4]int{1, 20, 700, 5000}[m>>4&3]%2 == 0 }

// decode reads step i off four bytes. Zeroes are none, so that steps can be
// dropped by zeroing them.
func (m mix) decode(i int, b []byte) step {
	ops := [16]op{
		opNone, opPost, opPost, opPost, opArrive, opArrive, opArrive,
		opPost, opPost, opPost, opRepost, opProbe, opCancel, opRemove, opPutBack, opTrim,
	}
	o := ops[b[0]&15]
	if o == opPost && b[0]&15 >= 7 && !m.posts(i) {
		o = opArrive
	}
	if o == opTrim && b[0]>>4 != 0 {
		o = opProbe
	}
	k := Key{
		Context: uint32(b[1]>>2) & 1,
		Source:  int32(b[1] & 3),
		Tag:     int32((int(b[2]) | int(b[3])<<8) % m.tags()),
	}
	if b[1]>>4 < m.wilds() {
		k.Source = AnySource
	}
	if b[3]>>4 < m.wilds() {
		k.Tag = AnyTag
	}
	return step{o, k, int(b[3]) | int(b[0]>>4)<<8}
}

func (m mix) decodeAll(b []byte) []step {
	var steps []step
	for i := 0; len(b) >= 4; b = b[4:] {
		if s := m.decode(i, b); s.op != opNone {
			steps = append(steps, s)
			i++
		}
	}
	return steps
}

// run does the steps, and compares everything after so many of them and at
// the end.
func run(steps []step, every int) error {
	var o oracle
	for i, s := range steps {
		err := o.do(s)
		if err == nil && (i%every == 0 || i == len(steps)-1) {
			err = o.compare()
		}
		if err != nil {
			var trace strings.Builder
			for _, s := range steps[max(0, i-50) : i+1] {
				fmt.Fprintln(&trace, s)
			}
			return fmt.Errorf("step %d: %w; the last steps:\n%s", i, err, &trace)
		}
	}
	return nil
}

// TestModel looks for short sequences of steps in which the table and the
// oracle differ.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := mix(rapid.Byte().Draw(t, "mix"))
		n := rapid.IntRange(1, 300).Draw(t, "steps")
		b := rapid.SliceOfN(rapid.Byte(), 4*n, 4*n).Draw(t, "bytes")
		if err := run(m.decodeAll(b), 1); err != nil {
			t.Fatal(err)
		}
	})
}

// TestModelLong does 100,000 steps on one table for each of some mixes (rule
// 2).
func TestModelLong(t *testing.T) {
	for name, m := range map[string]mix{
		"few keys":        0x02,
		"few keys, waves": 0x21,
		"waves":           0x25,
		"long waves":      0x39,
		"no wildcards":    0x38,
		"many wildcards":  0x2b,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := make([]byte, 4*100_000)
			rand.NewChaCha8([32]byte{byte(m)}).Read(b)
			steps := m.decodeAll(b)
			if err := run(steps, 1000); err != nil {
				t.Logf("%d steps, before they are shrunk: %v", len(steps), err)
				t.Fatal(run(shrink(steps), 1))
			}
		})
	}
}

// shrink drops what it can of steps that fail: of so many, rapid would have
// to try too much.
func shrink(steps []step) []step {
	fails := func(s []step) bool { return run(s, 1000) != nil }
	for size := len(steps) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(steps); {
			if fewer := slices.Delete(slices.Clone(steps), at, at+size); fails(fewer) {
				steps = fewer
			} else {
				at += size
			}
		}
	}
	return steps
}

// TestShrink shows that shrink leaves but a few steps of many that fail.
func TestShrink(t *testing.T) {
	b := make([]byte, 4*3000)
	rand.NewChaCha8([32]byte{1}).Read(b)
	steps := mix(0x25).decodeAll(b)
	steps[2000] = step{op: opFail}
	if got := shrink(steps); len(got) != 1 || got[0].op != opFail {
		t.Errorf("%d steps are left of %d, %v", len(got), len(steps), got[:min(len(got), 5)])
	}
}

// FuzzTable is best run with -fuzzminimizetime 200x: each input that reaches
// new code is minimised, which otherwise takes most of the time.
func FuzzTable(f *testing.F) {
	for _, m := range []byte{0x00, 0x12, 0x25, 0x3f} {
		b := make([]byte, 100)
		rand.NewChaCha8([32]byte{m}).Read(b)
		f.Add(m, b)
	}
	f.Fuzz(func(t *testing.T, m byte, b []byte) {
		if err := run(mix(m).decodeAll(b[:min(len(b), 1000)]), 32); err != nil {
			t.Fatal(err)
		}
	})
}
