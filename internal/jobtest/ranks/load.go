package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"

	"github.com/verbena-mpi/verbena/comm"
)

// Tags of the load. Every data message is acknowledged.
const (
	tagData = iota + 1
	tagAck
	tagPair
)

const (
	largest  = 1 << 20 // bytes of a data message
	receives = 4       // posted at a time
)

// load: three goroutines in each rank keep all ranks busy. One sends windows of
// messages of random sizes to random ranks, one receives them from any source,
// and one exchanges messages with the neighbour. Contents and order of all
// messages are checked.
func load(ctx context.Context, c *comm.Comm, args []string) error {
	l := &loader{c: c, seqs: make([]int, c.Size()), expected: make([]int, c.Size())}
	seed, windows := uint64(0), 0
	err := parse(args, func(f *flag.FlagSet) {
		f.Uint64Var(&seed, "seed", 1, "of all that is random")
		f.IntVar(&windows, "windows", 0, "how many windows each rank sends; 0: without end")
	})
	if err != nil {
		return err
	}
	l.rand = rand.New(rand.NewPCG(seed, uint64(c.Rank())))
	l.noise = noise(2*largest, 2)
	if c.Rank()%2 == 1 { // these can be read directly
		mapped := comm.Alloc[byte](c, len(l.noise))
		copy(mapped, l.noise)
		l.noise = mapped
	}
	errs := make(chan error, 3)
	go func() { errs <- l.sendAll(ctx, windows) }()
	go func() { errs <- l.receiveAll(ctx) }()
	go func() { errs <- l.pairAll(ctx, windows) }()
	for range 3 {
		if err := <-errs; err != nil {
			return err
		}
	}
	fmt.Printf("rank %d: %d windows\n", c.Rank(), windows)
	// A receive from any source ends when all other ranks have finished, even if this
	// one still sends to itself.
	return c.Barrier(ctx)
}

type loader struct {
	c        *comm.Comm
	rand     *rand.Rand // the sending goroutine's
	noise    []byte     // what messages are cut from; never written
	seqs     []int      // messages sent, by receiver: the sending goroutine's
	expected []int      // messages received, by sender: the receiving goroutine's
}

// message is what rank from sends as number seq of those to one rank. An empty
// message is its last.
func (l *loader) message(from, seq, size int) []byte {
	at := (from*7919 + seq*64) % largest
	return l.noise[at : at+size]
}

// sendAll sends windows, and waits after each until all has been received: so
// much, and no more, is ever on the way.
func (l *loader) sendAll(ctx context.Context, windows int) error {
	for i := 0; windows == 0 || i < windows; i++ {
		requests := make([]comm.Request, 1+l.rand.IntN(8))
		for k := range requests {
			requests[k] = l.isend(l.rand.IntN(l.c.Size()), size(l.rand))
		}
		if err := l.waitFor(ctx, requests); err != nil {
			return err
		}
		for range requests {
			if _, err := comm.Recv(ctx, l.c, []byte{}, comm.AnySource, tagAck); err != nil {
				return err
			}
		}
	}
	for r := range l.c.Size() {
		if _, err := l.isend(r, 0).Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) isend(to, size int) comm.Request {
	l.seqs[to]++
	return comm.Isend(l.c, l.message(l.c.Rank(), l.seqs[to], size), to, tagData)
}

// waitFor waits in one of three ways.
func (l *loader) waitFor(ctx context.Context, requests []comm.Request) error {
	switch l.rand.IntN(3) {
	case 0:
		return comm.WaitAll(ctx, requests...)
	case 1:
		for _, k := range l.rand.Perm(len(requests)) {
			if _, err := requests[k].Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	for _, r := range requests {
		for {
			_, done, err := r.Test()
			if err != nil {
				return err
			}
			if done {
				break
			}
		}
	}
	return nil
}

// receiveAll receives until every rank has sent its last.
func (l *loader) receiveAll(ctx context.Context) error {
	buffers := make([][]byte, receives)
	requests := make([]comm.Request, receives)
	for i := range buffers {
		buffers[i] = make([]byte, largest)
		requests[i] = comm.Irecv(l.c, buffers[i], comm.AnySource, tagData)
	}
	for i, left := 0, l.c.Size(); left > 0; i = (i + 1) % receives {
		status, err := requests[i].Wait(ctx)
		if err != nil {
			return err
		}
		if err := l.check(status, buffers[i]); err != nil {
			return err
		}
		requests[i] = comm.Irecv(l.c, buffers[i], comm.AnySource, tagData)
		if status.Bytes == 0 {
			left--
			continue
		}
		if err := comm.Send(ctx, l.c, []byte{}, status.Source, tagAck); err != nil {
			return err
		}
	}
	for range receives { // nothing else will match what is posted
		if err := comm.Send(ctx, l.c, []byte{}, l.c.Rank(), tagData); err != nil {
			return err
		}
	}
	return comm.WaitAll(ctx, requests...)
}

// check looks at one message. Those of one sender come in the order in which
// they were sent.
func (l *loader) check(s comm.Status, got []byte) error {
	l.expected[s.Source]++
	seq, n := l.expected[s.Source], int(s.Bytes)
	if !bytes.Equal(got[:n], l.message(s.Source, seq, n)) {
		return fmt.Errorf("rank %d: message %d of rank %d, %d B: wrong data", l.c.Rank(), seq, s.Source, n)
	}
	return nil
}

// pairAll exchanges messages with the neighbour, which is the one source.
func (l *loader) pairAll(ctx context.Context, windows int) error {
	peer := l.c.Rank() ^ 1
	if peer >= l.c.Size() {
		return nil
	}
	r := rand.New(rand.NewPCG(uint64(l.c.Rank()/2), 3)) // the same on both sides
	in := make([]byte, largest)
	for i := 1; windows == 0 || i <= windows; i++ {
		n := size(r)
		request := comm.Irecv(l.c, in, peer, tagPair)
		if err := comm.Send(ctx, l.c, l.message(l.c.Rank(), i, n), peer, tagPair); err != nil {
			return err
		}
		if _, err := request.Wait(ctx); err != nil {
			return err
		}
		if !bytes.Equal(in[:n], l.message(peer, i, n)) {
			return fmt.Errorf("rank %d: message %d of its neighbour, %d B: wrong data", l.c.Rank(), i, n)
		}
	}
	return nil
}

// size is a random message size, not 0: small ones as often as large ones.
func size(r *rand.Rand) int { return 1 + r.IntN(1<<(1+r.IntN(20))) }

// noise is n bytes that look random, the same in all ranks.
func noise(n int, seed uint64) []byte {
	src := rand.NewPCG(seed, 0)
	b := make([]byte, 0, n+8)
	for len(b) < n {
		v := src.Uint64()
		b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56))
	}
	return b[:n]
}
