package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// exchange: all ranks exchange blocks with all others, again and again, and check
// them. A rank leaves its word in files of a folder that all hosts see, since its
// output may have no way any more: "N.running" when it has met all others, and
// "N.error" when something fails. It goes on for a while then: its own end shall
// not be what the others hear first.
func exchange(ctx context.Context, c *comm.Comm, args []string) error {
	var dir string
	var rounds, length int
	var linger time.Duration
	if err := parse(args, func(f *flag.FlagSet) {
		f.StringVar(&dir, "dir", ".", "the folder")
		f.IntVar(&rounds, "rounds", 0, "how many rounds; 0: without an end")
		f.IntVar(&length, "length", 64, "bytes of a block")
		f.DurationVar(&linger, "linger", 3*time.Second/2, "how long a rank that fails stays")
	}); err != nil {
		return err
	}
	say := func(what, text string) error {
		return os.WriteFile(filepath.Join(dir, strconv.Itoa(c.Rank())+"."+what), []byte(text), 0o600)
	}
	for round := 0; rounds == 0 || round < rounds; round++ {
		if err := exchangeRound(ctx, c, round, length); err != nil {
			if err := say("error", err.Error()); err != nil {
				return err
			}
			select {
			case <-time.After(linger):
			case <-ctx.Done():
			}
			return err
		}
		if round == 0 {
			if err := say("running", ""); err != nil {
				return err
			}
		}
	}
	fmt.Println("exchanged")
	return nil
}

// exchangeRound sends a block to each rank and gets one of each, all at once: so a
// rank hears of whoever is lost, and doesn't wait for one that waits for another.
func exchangeRound(ctx context.Context, c *comm.Comm, round, length int) error {
	blocks := make([][]byte, c.Size())
	var requests []comm.Request
	for r := range c.Size() {
		if r != c.Rank() {
			blocks[r] = make([]byte, length)
			requests = append(requests, comm.Irecv(c, blocks[r], r, 1), comm.Isend(c, block(c.Rank(), round, length), r, 1))
		}
	}
	for range requests {
		if _, _, err := comm.WaitAny(ctx, requests); err != nil {
			return err
		}
	}
	for r, got := range blocks {
		if got != nil && !bytes.Equal(got, block(r, round, length)) {
			return fmt.Errorf("round %d: the block of rank %d is another", round, r)
		}
	}
	return nil
}

// block is what a rank sends in a round.
func block(rank, round, length int) []byte {
	b := make([]byte, length)
	for i := range b {
		b[i] = byte(rank + 3*round + i)
	}
	return b
}
