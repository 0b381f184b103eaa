package match

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkLevel measures what one match takes while 10 to 100,000 exact
// receives are posted, or as many messages wait, in each order of matching, and
// how many times the 10's the 100,000's is: the ratio that the design keeps
// level but for the caches, in which the smaller queues lie. What they do is told
// by "touched": one line of each of as many records, and one of as many words, in
// the same order, without any matching. Each round times all lengths again, in
// turns, so that a disturbance meets them all.
func BenchmarkLevel(b *testing.B) {
	for _, queue := range []struct {
		name  string
		drain func(n int, perm []int, rounds int) time.Duration
	}{{"posted", drainPosted}, {"unexpected", drainUnexpected}, {"touched", touch}} {
		for _, o := range orders {
			b.Run(queue.name+"/"+o.name, func(b *testing.B) {
				const least, most = 10, 100_000
				var total [6]time.Duration // by power of ten
				for range b.N {
					for power, n := 1, least; n <= most; power, n = power+1, 10*n {
						total[power] += queue.drain(n, o.perm(n), most/n)
					}
				}
				per := func(power int) float64 {
					return float64(total[power].Nanoseconds()) / float64(b.N*most)
				}
				for power, n := 1, least; n <= most; power, n = power+1, 10*n {
					b.ReportMetric(per(power), fmt.Sprintf("ns/match-at-%d", n))
				}
				b.ReportMetric(per(5)/per(1), "ratio")
				b.ReportMetric(0, "ns/op") // says nothing here
			})
		}
	}
}

// drainPosted posts n receives and times the matches that empty the queue.
func drainPosted(n int, perm []int, rounds int) (total time.Duration) {
	var t benchTable
	recvs := newRecvs(n)
	for range rounds {
		for i := range recvs {
			t.Post(&recvs[i].node, Key{1, 3, int32(i)})
		}
		start := time.Now()
		for _, i := range perm {
			t.Arrive(Key{1, 3, int32(i)})
		}
		total += time.Since(start)
	}
	if t.NumPosted() != 0 {
		panic("receives are left")
	}
	return total
}

// drainUnexpected queues n messages and times the receives that take them.
func drainUnexpected(n int, perm []int, rounds int) (total time.Duration) {
	var t benchTable
	msgs := newMsgs(n)
	r := &newRecvs(1)[0]
	for range rounds {
		for i := range msgs {
			k := Key{1, 3, int32(i)}
			_, at := t.Arrive(k)
			t.AddUnexpected(&msgs[i].node, k, at)
		}
		start := time.Now()
		for _, i := range perm {
			t.Post(&r.node, Key{1, 3, int32(i)})
		}
		total += time.Since(start)
	}
	if t.NumUnexpected() != 0 {
		panic("messages are left")
	}
	return total
}

// touch reads a word and a record in the order of perm, scattered as a hash
// table scatters them.
func touch(n int, perm []int, rounds int) (total time.Duration) {
	recvs := newRecvs(n)
	words := make([]*benchRecv, 2*n)
	at := func(i int) *(*benchRecv) { return &words[Key{1, 3, int32(i)}.hash()%uint64(len(words))] }
	for i := range recvs {
		*at(i) = &recvs[i]
	}
	var sum Seq
	for range rounds {
		start := time.Now()
		for _, i := range perm {
			r := *at(i)
			sum += r.node.node.seq
			r.node.node.seq = sum
		}
		total += time.Since(start)
	}
	return total
}
