// Command flood shows what messages cost that nobody has asked for. All ranks but
// the last send it a great many at once, while it waits for something else. It
// says how much memory they have taken there, at most; then it receives them, and
// checks that they are all there and in order. With -floods they come again and
// again: the memory of the first flood is used by all others.
//
//	verbrun -n 2 ./examples/flood -count 1000000 -size 64
//
// What waits is limited (VERBENA_UNEXPECTED_LIMIT, 64 MiB by default): then the
// senders wait.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

var (
	count  = flag.Int("count", 100_000, "messages of each sender in a flood")
	size   = flag.Int("size", 64, "bytes of a message, at least 8")
	floods = flag.Int("floods", 1, "floods, one after the other")
)

func main() {
	flag.Parse()
	comm.Main(run)
}

const tagFlood = 1

func run(ctx context.Context, c *comm.Comm) error {
	if c.Size() < 2 || *size < 8 {
		return errors.New("flood needs two ranks and messages of 8 bytes")
	}
	last := c.Size() - 1
	for range *floods {
		f := send
		if c.Rank() == last {
			f = receive
		}
		if err := f(ctx, c, last); err != nil {
			return err
		}
		// Nobody goes on, or ends, before this flood is over.
		if err := c.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

func send(ctx context.Context, c *comm.Comm, to int) error {
	buf := make([]byte, *size)
	for i := range *count {
		binary.LittleEndian.PutUint64(buf, uint64(i))
		if err := comm.Send(ctx, c, buf, to, tagFlood); err != nil {
			return err
		}
	}
	return nil
}

func receive(ctx context.Context, c *comm.Comm, _ int) error {
	before := resident()
	waiting, err := halt(ctx, c)
	if err != nil {
		return err
	}
	taken := peak() - before
	buf := make([]byte, *size)
	for rank := range c.Size() - 1 {
		for i := range *count {
			if _, err := comm.Recv(ctx, c, buf, rank, tagFlood); err != nil {
				return err
			}
			if got := binary.LittleEndian.Uint64(buf); got != uint64(i) {
				return fmt.Errorf("message %d of rank %d, want %d", got, rank, i)
			}
		}
	}
	fmt.Printf("%d messages of %d B waited and took %.1f MB at most; %d came in order\n",
		min(waiting, (c.Size()-1)**count), *size, float64(taken)/1e6, (c.Size()-1)**count)
	return nil
}

// halt waits until the flood is there, or has come to a halt because there is no
// more room for it, and returns how many messages wait.
func halt(ctx context.Context, c *comm.Comm) (int, error) {
	const quiet = 300 * time.Millisecond
	all := (c.Size() - 1) * *count
	before, waiting, changed := arrived(c), 0, time.Now()
	for waiting < all && time.Since(changed) < quiet {
		for range 10_000 {
			// A probe moves messages along; one of this tag never comes.
			if _, _, err := c.Iprobe(0, tagFlood+1); err != nil {
				return 0, err
			}
		}
		if n := arrived(c) - before; n != waiting {
			waiting, changed = n, time.Now()
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
	return waiting, nil
}

// arrived counts the messages that came before their receive.
func arrived(c *comm.Comm) int { return int(c.World().Info().Counters["unexpected.messages"]) }
