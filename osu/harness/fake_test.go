package harness

import (
	"bytes"
	"context"
	"slices"
	"sync"
)

// fakeJob is a rank of a job whose ranks are goroutines.
type fakeJob struct {
	me, n        int
	out, in      chan []byte
	values, back chan int64
	allocated    int
}

func (j *fakeJob) rank() int { return j.me }
func (j *fakeJob) size() int { return j.n }

func (j *fakeJob) barrier(ctx context.Context) error {
	_, err := j.gather(ctx, 0)
	return err
}

func (j *fakeJob) gather(_ context.Context, n int64) ([]int64, error) {
	j.values <- n
	all := []int64{n, n}
	all[1-j.me] = <-j.back
	return all, nil
}

func (j *fakeJob) sum(context.Context, []int64) error { panic("no collective") }

func (j *fakeJob) alloc(n int) []byte { j.allocated++; return make([]byte, n) }
func (j *fakeJob) free([]byte)        { j.allocated-- }

// fakeBody passes windows of messages to and fro, or one way.
type fakeBody struct {
	job        *fakeJob
	send, recv [][]byte
	steps      int
	deliver    func(step int, recv, message []byte) // nil: copy
}

func (b *fakeBody) Use(send, recv [][]byte) { b.send, b.recv = send, recv }

func (b *fakeBody) Step(context.Context) error {
	b.steps++
	for _, m := range b.send {
		b.job.out <- slices.Clone(m)
	}
	for _, mem := range b.recv {
		message := <-b.job.in
		if b.deliver == nil {
			copy(mem, message)
		} else {
			b.deliver(b.steps, mem, message)
		}
	}
	return nil
}

// outcome is what a rank of a fake job did.
type outcome struct {
	stdout, stderr string
	err            error
	body           *fakeBody
	job            *fakeJob
}

// runPair runs a benchmark on two fake ranks of a job of n. The second rank
// takes messages in by deliver.
func runPair(spec Spec, n int, args []string, deliver func(step int, recv, message []byte)) [2]outcome {
	data := [2]chan []byte{make(chan []byte, 1024), make(chan []byte, 1024)}
	values := [2]chan int64{make(chan int64, 1), make(chan int64, 1)}
	var got [2]outcome
	var wg sync.WaitGroup
	for me := range got {
		j := &fakeJob{me: me, n: n, out: data[me], in: data[1-me], values: values[me], back: values[1-me]}
		b := &fakeBody{job: j}
		if me == 1 {
			b.deliver = deliver
		}
		wg.Go(func() {
			var stdout, stderr bytes.Buffer
			r := &run{spec: &spec, job: j, makeBody: func(int) Body { return b }, stdout: &stdout, stderr: &stderr}
			err := r.start(context.Background(), args)
			got[me] = outcome{stdout.String(), stderr.String(), err, b, j}
		})
	}
	wg.Wait()
	return got
}
