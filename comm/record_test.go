package comm

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/verbena-mpi/verbena/internal/match"
)

// A message that waits takes its own bytes and 64 more, at most, if it is a short one
// (rule 18).
func TestRecordSizes(t *testing.T) {
	if n := unsafe.Sizeof(unexpected{}); n != behindAt || n > 56 {
		t.Errorf("a record takes %d bytes besides its message", n)
	}
	if recordKinds[detailed].behind != int(unsafe.Sizeof(detail{})) {
		t.Error("the kind with a detail is another one")
	}
	for n := range mostBehind + 1 {
		k := recordKinds[kindFor(n)]
		switch {
		case k.behind < n:
			t.Errorf("%d bytes have %d behind their record", n, k.behind)
		case n <= 64 && k.size > n+64:
			t.Errorf("%d bytes take %d", n, k.size)
		case n > 64 && k.size > n+n/2+64:
			t.Errorf("%d bytes take %d", n, k.size)
		}
	}
}

// Records of all kinds in random order: each keeps what it has while others come and
// go, and while the collector runs.
func TestRecords(t *testing.T) {
	type kept struct {
		u    *unexpected
		key  match.Key
		body []byte
		self *request
	}
	rng := rand.New(rand.NewPCG(3, 4))
	w := &World{records: records{limit: 1 << 20}}
	var all []kept
	for step := range 20_000 {
		if len(all) > 0 && (rng.IntN(2) == 0 || len(all) > 300) {
			i := rng.IntN(len(all))
			k := all[i]
			all = slices.Delete(all, i, i+1)
			switch {
			case k.u.msg.Key() != k.key:
				t.Fatalf("step %d: key %v, want %v", step, k.u.msg.Key(), k.key)
			case k.self != nil && (k.u.waiting() != k.self || len(k.self.buf) == 0):
				t.Fatalf("step %d: another send", step)
			case k.self == nil && (k.u.length() != int64(len(k.body)) || !bytes.Equal(body(k.u), k.body)):
				t.Fatalf("step %d: %d bytes, want %d, or their content differs", step, k.u.length(), len(k.body))
			}
			w.putUnexpected(k.u)
			continue
		}
		k := kept{key: match.Key{Context: 1, Source: rng.Int32N(9), Tag: int32(step)}}
		if rng.IntN(10) == 0 {
			var d *detail
			k.u, d = w.newDetail(k.key)
			k.self = &request{buf: make([]byte, 1+rng.IntN(2000))} // nobody else has it
			d.self = k.self
		} else {
			k.body = make([]byte, rng.IntN([]int{4, 70, 1100, 9000}[rng.IntN(4)]))
			pattern(k.body, step)
			k.u = w.keep(k.key, k.body)
		}
		all = append(all, k)
		if step%2000 == 0 {
			runtime.GC()
		}
	}
	for _, k := range all {
		w.putUnexpected(k.u)
	}
	if w.unexpectedBytes != 0 || w.records.idle != w.records.made {
		t.Errorf("%d bytes are held, %d of %d idle", w.unexpectedBytes, w.records.idle, w.records.made)
	}
}

// body is that of a whole message.
func body(u *unexpected) []byte {
	if d := u.detail(); d != nil {
		return d.data
	}
	return u.short()
}

// Records that one flood has left are the next one's; and where it is of other sizes
// they make way for those that it needs.
func TestRecordsReused(t *testing.T) {
	const limit = 1 << 20
	w := &World{records: records{limit: limit}}
	flood := func(size int) {
		var all []*unexpected
		for memory := 0; memory < limit*7/8; {
			u := w.keep(match.Key{}, make([]byte, size))
			memory += u.memory()
			all = append(all, u)
		}
		for _, u := range all {
			w.putUnexpected(u)
		}
	}
	flood(64)
	made := w.records.made
	for range 20 {
		flood(64)
	}
	if w.records.made != made {
		t.Errorf("%d bytes of records after 21 floods, %d after the first", w.records.made, made)
	}
	for i := range 40 {
		flood([]int{0, 30, 64, 200, 1000}[i%5])
		if w.records.made > limit+limit/4 {
			t.Fatalf("flood %d: %d bytes of records under a limit of %d", i, w.records.made, limit)
		}
	}
}
