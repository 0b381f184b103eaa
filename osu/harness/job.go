package harness

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// job is what the harness itself needs of the ranks; tests have one without
// processes.
type job interface {
	rank() int
	size() int
	barrier(ctx context.Context) error
	sum(ctx context.Context, n int64) (int64, error) // over two ranks
	alloc(n int) []byte
	free(mem []byte)
}

// tagSum is unlike the benchmarks' tags, so that a stray message of theirs is
// not taken for a sum.
const tagSum = 1000

type commJob struct{ c *comm.Comm }

func (j commJob) rank() int { return j.c.Rank() }
func (j commJob) size() int { return j.c.Size() }

func (j commJob) barrier(ctx context.Context) error { return j.c.Barrier(ctx) }

func (j commJob) sum(ctx context.Context, n int64) (int64, error) {
	peer := 1 - j.rank()
	mine, theirs := []int64{n}, make([]int64, 1)
	if j.rank() == 0 {
		if _, err := comm.Recv(ctx, j.c, theirs, peer, tagSum); err != nil {
			return 0, err
		}
		return n + theirs[0], comm.Send(ctx, j.c, mine, peer, tagSum)
	}
	if err := comm.Send(ctx, j.c, mine, peer, tagSum); err != nil {
		return 0, err
	}
	_, err := comm.Recv(ctx, j.c, theirs, peer, tagSum)
	return theirs[0], err
}

func (j commJob) alloc(n int) []byte { return comm.Alloc[byte](j.c, n) }
func (j commJob) free(mem []byte)    { comm.Free(j.c, mem) }
