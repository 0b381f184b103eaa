package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// overlap: one of two ranks computes without calling comm while a large message
// between the two is on its way. It is "send" that computes, after Isend, while
// the other is in Recv; or "recv", after Irecv, while the other is in Send.
// Either says when, by the host's clock, it was done.
func overlap(ctx context.Context, c *comm.Comm, args []string) error {
	const tag = 1
	size, busy, who, memory := 0, time.Duration(0), "", ""
	err := parse(args, func(f *flag.FlagSet) {
		f.IntVar(&size, "size", 4<<20, "bytes")
		f.DurationVar(&busy, "for", time.Second, "how long to compute")
		f.StringVar(&who, "who", "send", "who computes: send or recv")
		f.StringVar(&memory, "memory", "heap", "heap or alloc")
	})
	if err != nil {
		return err
	}
	buf := make([]byte, size)
	if memory == "alloc" {
		buf = comm.Alloc[byte](c, size)
	}
	want := noise(size, 1)
	sends := c.Rank() == 0
	if sends {
		copy(buf, want)
	}
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	switch {
	case sends && who == "send":
		err = beside(ctx, comm.Isend(c, buf, 1, tag), busy)
	case sends:
		err = comm.Send(ctx, c, buf, 1, tag)
		report("transfer")
	case who == "recv":
		err = beside(ctx, comm.Irecv(c, buf, 0, tag), busy)
	default:
		_, err = comm.Recv(ctx, c, buf, 0, tag)
		report("transfer")
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(buf, want) {
		return fmt.Errorf("rank %d: wrong data", c.Rank())
	}
	return c.Barrier(ctx)
}

// beside computes while a request is on its way.
func beside(ctx context.Context, r comm.Request, busy time.Duration) error {
	report("compute begins")
	x := uint64(1)
	for end := time.Now().Add(busy); time.Now().Before(end); {
		for range 1000 {
			x = x*6364136223846793005 + 1
		}
	}
	report("compute ends")
	_, err := r.Wait(ctx)
	report(fmt.Sprintf("request %d", x&1))
	return err
}

func report(what string) { fmt.Printf("at %d %s\n", time.Now().UnixMicro(), what) }
