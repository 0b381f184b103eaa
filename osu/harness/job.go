package harness

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/coll"
)

// job is what the harness itself needs of the ranks; tests have one without
// processes.
type job interface {
	rank() int
	size() int
	barrier(ctx context.Context) error
	gather(ctx context.Context, n int64) ([]int64, error) // of all ranks, to all ranks
	sum(ctx context.Context, n []int64) error             // over all ranks, on rank 0
	alloc(n int) []byte
	free(mem []byte)
}

// tagGather is unlike the benchmarks' tags, so that a stray message of theirs is
// not taken for a part.
const tagGather = 1000

type commJob struct{ c *comm.Comm }

func (j commJob) rank() int { return j.c.Rank() }
func (j commJob) size() int { return j.c.Size() }

func (j commJob) barrier(ctx context.Context) error { return j.c.Barrier(ctx) }

func (j commJob) gather(ctx context.Context, n int64) ([]int64, error) {
	all := make([]int64, j.size())
	if j.rank() != 0 {
		if err := comm.SendOne(ctx, j.c, n, 0, tagGather); err != nil {
			return nil, err
		}
		_, err := comm.Recv(ctx, j.c, all, 0, tagGather)
		return all, err
	}
	all[0] = n
	for r := 1; r < len(all); r++ {
		if _, err := comm.Recv(ctx, j.c, all[r:r+1], r, tagGather); err != nil {
			return nil, err
		}
	}
	for r := 1; r < len(all); r++ {
		if err := comm.Send(ctx, j.c, all, r, tagGather); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (j commJob) sum(ctx context.Context, n []int64) error {
	return coll.Reduce(ctx, j.c, n, n, 0, coll.Sum)
}

func (j commJob) alloc(n int) []byte { return comm.Alloc[byte](j.c, n) }
func (j commJob) free(mem []byte)    { comm.Free(j.c, mem) }
