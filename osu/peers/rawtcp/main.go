// Rawtcp is the floor of what messages between ranks over TCP can be: the same
// ping-pong and the same stream over one bare non-blocking socket, without
// messages, tags or ranks. It waits by trying again, as a rank that drives its own
// connections does, and takes the options of the other programs of a comparison.
//
//	go run ./launcher/verbrun -n 2 ./osu/peers/rawtcp -b latency -m 8:8
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
)

// limit is how long the program may take in all.
const limit = 5 * time.Minute

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if err == flag.ErrHelp {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rawtcp:", err)
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "rawtcp:", err)
		os.Exit(1)
	}
}

// run is one rank.
func run(o *options) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	job, err := bootstrap.FromEnv(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			job.Abort(1, err.Error())
			return
		}
		err = job.Close(ctx)
	}()
	if job.Size != 2 {
		return fmt.Errorf("%d ranks: expected 2", job.Size)
	}
	s, err := connect(ctx, job, o.congestion)
	if err != nil {
		return err
	}
	defer s.close()
	cpus, err := job.Exchange(ctx, "cpu", fmt.Append(nil, ownCPU()))
	if err != nil {
		return err
	}
	b := bench{s: s, first: job.Rank == 0, window: o.window, buf: make([]byte, o.max)}
	round, title := b.pingPong, "latency, one way (us)"
	if o.bench == "bw" {
		round, title = b.stream, "bandwidth (MB/s)"
	}
	if b.first {
		fmt.Printf("\n# Raw TCP socket, %s\n# CPUs: %s\n", title, strings.Join([]string{string(cpus[0]), string(cpus[1])}, " "))
	}
	for size := o.min; size <= o.max; size *= 2 {
		warmUp, iterations := o.counts(size)
		took, err := b.time(round, size, warmUp, iterations)
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
		value := float64(took) / 1e3 / float64(2*iterations)
		if o.bench == "bw" {
			value = float64(size) / 1e6 * float64(iterations*o.window) / took.Seconds()
		}
		if b.first {
			fmt.Printf("%-10d%18.*f\n", size, o.decimals, value)
		}
	}
	return nil
}
