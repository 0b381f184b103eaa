// Command escape is compiled by a test, to see where its arrays are put.
package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

func main() { comm.Main(run) }

func run(ctx context.Context, c *comm.Comm) error {
	var sent, received, isent, ireceived, out, in, kept [64]byte
	if err := comm.Send(ctx, c, sent[:], 0, 0); err != nil {
		return err
	}
	if _, err := comm.Recv(ctx, c, received[:], 0, 0); err != nil {
		return err
	}
	if _, err := comm.Sendrecv(ctx, c, out[:], 0, 0, in[:], 0, 0); err != nil {
		return err
	}
	r := comm.Irecv(c, ireceived[:], 0, 1)
	if _, err := comm.Isend(c, isent[:], 0, 1).Wait(ctx); err != nil {
		return err
	}
	if kept[0] != 0 {
		return nil
	}
	_, err := r.Wait(ctx)
	return err
}
