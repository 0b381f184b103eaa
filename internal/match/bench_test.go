package match

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

type (
	benchTable = Table[benchRecv, benchMsg]
	benchRecv  struct {
		_    [64]byte // what a request holds beside
		node Recv[benchRecv]
	}
	benchMsg struct {
		node Msg[benchMsg]
		_    [64]byte
	}
)

func newRecvs(n int) []benchRecv {
	all := make([]benchRecv, n)
	for i := range all {
		all[i].node.Bind(&all[i])
	}
	return all
}

func newMsgs(n int) []benchMsg {
	all := make([]benchMsg, n)
	for i := range all {
		all[i].node.Bind(&all[i])
	}
	return all
}

var depths = []int{1, 10, 100, 1000, 10_000, 100_000}

// orders are the orders in which a queue of n is emptied.
var orders = []struct {
	name string
	perm func(n int) []int
}{
	{"forward", func(n int) []int {
		p := make([]int, n)
		for i := range p {
			p[i] = i
		}
		return p
	}},
	{"reverse", func(n int) []int {
		p := make([]int, n)
		for i := range p {
			p[i] = n - 1 - i
		}
		return p
	}},
	{"random", func(n int) []int { return rand.New(rand.NewPCG(1, 2)).Perm(n) }},
}

func forDepths(b *testing.B, run func(b *testing.B, perm []int)) {
	for _, n := range depths {
		for _, o := range orders {
			if n == 1 && o.name != "forward" {
				continue
			}
			b.Run(fmt.Sprintf("depth=%d/%s", n, o.name), func(b *testing.B) {
				b.ReportAllocs()
				run(b, o.perm(n))
			})
		}
	}
}

// BenchmarkPostArrive keeps a number of receives with different tags posted,
// fills them in some order, and posts each anew at once: an operation is one
// match and one post.
func BenchmarkPostArrive(b *testing.B) {
	forDepths(b, func(b *testing.B, perm []int) {
		var t benchTable
		recvs := newRecvs(len(perm))
		for i := range recvs {
			t.Post(&recvs[i].node, Key{1, 3, int32(i)})
		}
		b.ResetTimer()
		i := 0
		for range b.N {
			k := Key{1, 3, int32(perm[i])}
			r, _ := t.Arrive(k)
			t.Post(&r.node, k)
			if i++; i == len(perm) {
				i = 0
			}
		}
	})
}

// BenchmarkPostDrain posts a number of receives, then fills them all: an
// operation is one post and one match.
func BenchmarkPostDrain(b *testing.B) {
	forDepths(b, func(b *testing.B, perm []int) {
		var t benchTable
		recvs := newRecvs(len(perm))
		done := 0
		for ; done < b.N; done += len(perm) {
			for i := range recvs {
				t.Post(&recvs[i].node, Key{1, 3, int32(i)})
			}
			for _, i := range perm {
				if r, _ := t.Arrive(Key{1, 3, int32(i)}); r != &recvs[i] {
					b.Fatal("wrong receive")
				}
			}
		}
		reportPer(b, done)
	})
}

// reportPer replaces the time per b.N by that per n, for benchmarks that go on
// to the end of a round.
func reportPer(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/op")
}

// BenchmarkUnexpected queues a number of messages with different tags, then
// posts a receive for each.
func BenchmarkUnexpected(b *testing.B) {
	forDepths(b, benchUnexpected(exact))
}

// BenchmarkUnexpectedIndexed is the same in a program that has used all
// wildcard forms before.
func BenchmarkUnexpectedIndexed(b *testing.B) {
	forDepths(b, benchUnexpected(anySource, anyTag, anyBoth))
}

func benchUnexpected(used ...form) func(b *testing.B, perm []int) {
	return func(b *testing.B, perm []int) {
		var t benchTable
		for _, f := range used {
			if f != exact {
				t.unexp.use(f)
			}
		}
		msgs := newMsgs(len(perm))
		r := &newRecvs(1)[0]
		done := 0
		for ; done < b.N; done += len(perm) {
			for i := range msgs {
				k := Key{1, 3, int32(i)}
				_, at := t.Arrive(k)
				t.AddUnexpected(&msgs[i].node, k, at)
			}
			for _, i := range perm {
				if t.Post(&r.node, Key{1, 3, int32(i)}) != &msgs[i] {
					b.Fatal("wrong message")
				}
			}
		}
		reportPer(b, done)
	}
}

// BenchmarkWildcard posts one receive of a wildcard form and fills it, while
// exact receives that don't match wait.
func BenchmarkWildcard(b *testing.B) {
	for f, name := range []string{"exact", "anysource", "anytag", "both"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var t benchTable
			others := newRecvs(10)
			for i := range others {
				t.Post(&others[i].node, Key{1, 4, int32(i)})
			}
			r := &newRecvs(1)[0]
			k := Key{1, 3, 7}
			for range b.N {
				t.Post(&r.node, k.widen(form(f)))
				if got, _ := t.Arrive(k); got != r {
					b.Fatal("wrong receive")
				}
			}
		})
	}
}

// BenchmarkBesideWildcard matches an exact receive while one from any source
// with any tag waits in another communicator, as a service has it.
func BenchmarkBesideWildcard(b *testing.B) {
	var t benchTable
	service, r := &newRecvs(1)[0], &newRecvs(1)[0]
	t.Post(&service.node, Key{2, AnySource, AnyTag})
	k := Key{1, 3, 7}
	for range b.N {
		t.Post(&r.node, k)
		if got, _ := t.Arrive(k); got != r {
			b.Fatal("wrong receive")
		}
	}
}

// BenchmarkSameKey matches receives that all have one key.
func BenchmarkSameKey(b *testing.B) {
	for _, n := range depths {
		b.Run(fmt.Sprintf("depth=%d", n), func(b *testing.B) {
			var t benchTable
			recvs := newRecvs(n)
			k := Key{1, 3, 7}
			for i := range recvs {
				t.Post(&recvs[i].node, k)
			}
			b.ResetTimer()
			for range b.N {
				r, _ := t.Arrive(k)
				t.Post(&r.node, k)
			}
		})
	}
}

// BenchmarkTagStream uses every tag once.
func BenchmarkTagStream(b *testing.B) {
	b.ReportAllocs()
	var t benchTable
	r := &newRecvs(1)[0]
	for i := range b.N {
		k := Key{1, 3, int32(i & 0x7fffffff)}
		t.Post(&r.node, k)
		if got, _ := t.Arrive(k); got != r {
			b.Fatal("wrong receive")
		}
	}
}

// BenchmarkProbeMiss probes in vain, with nothing queued and with much.
func BenchmarkProbeMiss(b *testing.B) {
	for _, n := range []int{0, 1, 1000} {
		for f, name := range []string{"exact", "anysource", "anytag", "both"} {
			b.Run(fmt.Sprintf("queued=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				var t benchTable
				msgs := newMsgs(n)
				for i := range msgs {
					k := Key{1, 3, int32(i)}
					_, at := t.Arrive(k)
					t.AddUnexpected(&msgs[i].node, k, at)
				}
				k := Key{2, 3, 7}.widen(form(f))
				for range b.N {
					if t.Probe(k) != nil {
						b.Fatal("hit")
					}
				}
			})
		}
	}
}

// BenchmarkRemove posts and withdraws a receive.
func BenchmarkRemove(b *testing.B) {
	var t benchTable
	r := &newRecvs(1)[0]
	for range b.N {
		t.Post(&r.node, Key{1, 3, 7})
		t.Remove(&r.node)
	}
}
