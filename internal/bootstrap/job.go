// Package bootstrap is how a process finds out which rank of which job it is,
// and how the ranks of a job exchange their first few bytes, before there is
// any connection between them. One client serves verbrun, Hydra and Slurm's
// pmi2 plugin, since all three answer PMI-1 on an inherited socket. Where ranks get
// no connection from whoever started them, they meet (internal/meet), and go on by
// PMI-1 with a server of their own.
//
// A process that was started alone is a job of one rank. It never becomes one
// by accident: where the environment says that there are others and there is
// no way to reach them, FromEnv fails and names the command to use.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/meet"
	"github.com/verbena-mpi/verbena/internal/pmi"
)

// Job is this process's place in its job. Its methods are called one at a
// time, except Abort, which may be called at any moment and from any
// goroutine.
type Job struct {
	Rank, Size int

	// Name is the launcher's name for the job, the same in all ranks and empty
	// in a job started alone.
	Name string

	// Control is the connection for exits and dumps, and Crash the file for the
	// last words of a crash. They are the caller's to close, and nil where the
	// launcher gives none: only verbrun does, and for exits and aborts a meeting.
	Control *control.Conn
	Crash   *os.File

	local   *Local      // of a rank that is a goroutine; then there is nothing below
	client  *pmi.Client // nil in a job started alone
	meeting *meet.Place // of ranks that no launcher connects
	value   int         // most bytes of a PMI value
	epoch   int         // exchanges so far
	closed  bool
	stderr  io.Writer
	verbrun bool // the launcher is ours, and prints what Abort says
}

// ErrGone: the launcher closed the connection.
var ErrGone = pmi.ErrGone

// ErrClosed: a call after Close.
var ErrClosed = errors.New("bootstrap: the job is closed")

// alone is a job of one.
func alone() *Job { return &Job{Size: 1, stderr: os.Stderr} }

// join speaks to the launcher for the first time. The connection is closed if
// it fails.
func join(ctx context.Context, rank, size int, conn pmi.Conn) (*Job, error) {
	j := &Job{Rank: rank, Size: size, stderr: os.Stderr}
	if err := j.start(ctx, conn); err != nil {
		return nil, err
	}
	return j, nil
}

func (j *Job) start(ctx context.Context, conn pmi.Conn) error {
	j.client = pmi.NewClient(j.Rank, conn)
	if err := j.hello(ctx); err != nil {
		_ = j.client.Close()
		return err
	}
	return nil
}

func (j *Job) hello(ctx context.Context) error {
	if err := j.client.Init(ctx); err != nil {
		return err
	}
	x, err := j.client.GetMaxes(ctx)
	if err != nil {
		return err
	}
	if x.Key < maxKey {
		return fmt.Errorf("bootstrap: rank %d: the launcher's keys have at most %d bytes, expected at least %d", j.Rank, x.Key, maxKey)
	}
	// Whatever it announces: 990 bytes hung a Slurm step, 1024 broke Hydra.
	j.value = min(x.Value-1, pmi.SafeValue)
	if j.value < minValue {
		return fmt.Errorf("bootstrap: rank %d: the launcher's values have at most %d bytes, expected at least %d", j.Rank, x.Value, minValue+1)
	}
	j.Name, err = j.client.KVSName(ctx)
	j.verbrun = strings.HasPrefix(j.Name, "verbrun-")
	j.client.Ours = j.verbrun || strings.HasPrefix(j.Name, meet.NamePrefix)
	return err
}

// Barrier waits until every rank has called it.
func (j *Job) Barrier(ctx context.Context) error {
	if j.closed {
		return ErrClosed
	}
	if j.local != nil {
		_, err := j.Exchange(ctx, "barrier", nil)
		return err
	}
	if j.client == nil {
		return ctx.Err()
	}
	return j.explain(j.client.Barrier(ctx))
}

// Abort tells the launcher to end the job with this status and returns, within
// a second or two whatever the launcher does. The caller then exits. Why is a
// short sentence: verbrun prints it, and under other launchers Abort does, on
// stderr. Where ranks have met, the others hear of it and end themselves. A rank that
// is a goroutine dies.
func (j *Job) Abort(code int, why string) {
	if j.local != nil {
		j.local.Kill(j.Rank, why)
		return
	}
	if !j.verbrun {
		fmt.Fprintf(j.stderr, "rank %d: abort with status %d: %s\n", j.Rank, code, why)
	}
	switch {
	case j.client == nil:
	case j.meeting != nil && j.Rank == 0:
		j.meeting.Abort(code, why)
	case j.client.Ours:
		_ = j.client.Abort(code, why)
	default:
		_ = j.client.Abort(code, "") // no other launcher expects more
	}
}

// Follow is Abort for a rank whose reason is that another has ended: the job's status is
// that one's, if that was a failure. Where ranks meet without a launcher the other may
// have ended because of an abort that this rank is about to hear of, and to end by: it
// waits for that a moment.
func (j *Job) Follow(code int, why string) {
	if j.meeting != nil {
		time.Sleep(followGrace)
	}
	if j.client != nil && j.client.Ours && j.verbrun && j.local == nil && j.meeting == nil {
		_ = j.client.Follow(code, why)
		return
	}
	j.Abort(code, why)
}

// followGrace is how long the word of an abort may take.
const followGrace = 500 * time.Millisecond

// Close says goodbye to the launcher. After it this process may exit without
// that being taken for an accident. The second call does nothing.
func (j *Job) Close(ctx context.Context) error {
	if j.closed {
		return nil
	}
	j.closed = true
	if j.local != nil {
		j.local.end(j.Rank, control.Finished, "")
	}
	if j.client == nil {
		return nil
	}
	err := j.client.Finalize(ctx)
	if j.meeting != nil && (errors.Is(err, ErrGone) || unreachable(err)) {
		err = nil // rank 0 has ended: there is nobody to say goodbye to
	}
	err = errors.Join(j.explain(err), j.client.Close())
	if j.meeting != nil {
		if merr := j.meeting.Close(ctx); merr != nil {
			err = errors.Join(err, fmt.Errorf("bootstrap: %w", merr))
		}
	}
	return err
}

// explain says in other words what went wrong at a meeting, where there is no launcher,
// and what can be said where a launcher answers nothing.
func (j *Job) explain(err error) error {
	if err == nil {
		return nil
	}
	if j.meeting == nil {
		if late := errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded); late && !j.client.Ours {
			return fmt.Errorf("%w: another rank may have ended or not come, and this launcher doesn't say which", err)
		}
		return err
	}
	var refused *pmi.RefusedError
	switch {
	case errors.As(err, &refused) && refused.Msg != "":
		j.meeting.Linger()
		return fmt.Errorf("rank %d: %w", j.Rank, &meet.RefusedError{Why: pmi.UnescapeText(refused.Msg)})
	case errors.Is(err, ErrGone):
		return fmt.Errorf("rank %d: rank 0, which keeps the meeting, has ended: %w", j.Rank, err)
	case unreachable(err):
		return fmt.Errorf("rank %d: rank 0, which keeps the meeting, can't be reached any more: %w", j.Rank, err)
	}
	return err
}

// unreachable says whether the network failed, and not a deadline.
func unreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && !errors.Is(err, os.ErrDeadlineExceeded)
}

// initTimeout bounds FromEnv as a whole.
const initTimeout = 60 * time.Second
