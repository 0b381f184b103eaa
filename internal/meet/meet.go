// Package meet is how the processes of a job find each other where no launcher of
// ours has started them: rank 0 keeps a meeting, a server at an address that all
// know, and the others come there. It serves PMI, by which they exchange their first
// few bytes, and a control connection, by which each hears which ranks have ended
// and that the job is aborted, as it would from verbrun.
//
// A meeting begins when all ranks are there, and not before: until then a rank may
// come late, go and come again, and whoever waits too long ends the waiting for all,
// with the names of those that are missing. From then on a rank that has ended has
// ended for good; one that comes in its place is refused.
//
// Each rank makes two connections. On each it proves that it belongs to the job, as
// the Way has it; then it says one line:
//
//	rank    cmd=meet protocol=1 job=J rank=R size=N within=MILLISECONDS
//	rank 0  cmd=meet_wait token=T             now the second connection, with
//	rank    cmd=meet_control rank=R token=T
//	rank 0  cmd=meet_result rc=0              on the second at once; on the first when all are there
//	rank 0  cmd=meet_result rc=-1 msg=WHY     refused, or the meeting failed
//	rank 0  cmd=meet_result rc=1 msg=WHY      not now, perhaps later
//
// Afterwards the first speaks PMI-1 and the second control's protocol.
package meet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/pmi"
)

// protocol is the version of what is said before PMI.
const protocol = 1

// NamePrefix begins the names of meetings, as PMI tells them.
const NamePrefix = "meeting-"

// Limits of single steps. They are long for a busy machine.
const (
	dialLimit     = 5 * time.Second  // one try to connect
	strangerLimit = 10 * time.Second // from a connection's making until its first line
	answerLimit   = 10 * time.Second // what rank 0 answers by itself
	tellLimit     = time.Second      // news, to a rank that doesn't read
	// resultGrace is how much longer a rank waits for rank 0's word than it has
	// told: the word says who is missing.
	resultGrace = 2 * time.Second
)

// Config is what a rank knows before it meets the others.
type Config struct {
	Rank, Size int
	// Job is the same in all ranks of a job, and says to which a rank belongs where
	// the Way alone could lead to another.
	Job     string
	Timeout time.Duration // for all to be there
	Way     Way
}

// Way is how the ranks of a job reach rank 0.
type Way interface {
	fmt.Stringer // for errors
	// Listen is rank 0's.
	Listen() (net.Listener, error)
	// Dial is the others'. It is tried again if it fails.
	Dial(context.Context) (net.Conn, error)
	// Secure proves to each end that the other belongs to the job, within c's
	// deadline. An error that wraps ErrStranger says that it doesn't.
	Secure(c net.Conn, server bool) (net.Conn, error)
	// Doubt says what may be wrong with the way if ranks don't come, or nothing.
	// It is rank 0 that asks.
	Doubt(context.Context) string
}

// ErrStranger: the other end of a connection doesn't belong to the job.
var ErrStranger = errors.New("it does not belong to this job")

// RefusedError is rank 0's word that a rank has no place in the job, or that there
// will be no job.
type RefusedError struct {
	Why   string
	again bool // it may be otherwise later
}

func (e *RefusedError) Error() string { return e.Why }

// Place is a rank's in a meeting that has begun.
type Place struct {
	PMI     pmi.Conn      // to be closed by whoever takes it
	Control *control.Conn // the same
	host    *host         // rank 0's
}

// Join waits until all ranks are there.
func Join(ctx context.Context, c Config) (*Place, error) {
	if c.Size < 1 || c.Rank < 0 || c.Rank >= c.Size {
		return nil, fmt.Errorf("rank %d of %d: not a rank of the job", c.Rank, c.Size)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	var p *Place
	var err error
	if c.Rank == 0 {
		p, err = keep(ctx, c)
	} else {
		p, err = visit(ctx, c)
	}
	if err != nil {
		return nil, fmt.Errorf("rank %d: %s: %w", c.Rank, c.Way, err)
	}
	return p, nil
}

// outOfTime says whether a context has ended because its time is over, of which all
// ranks speak, and not because somebody has canceled it.
func outOfTime(ctx context.Context) bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }

// Abort tells all other ranks that the job is aborted. It is for rank 0 only: the
// others do so by PMI. It returns when they have ended, or have had a second for it.
func (p *Place) Abort(status int, why string) {
	switch {
	case p.host == nil:
	case p.host.noteAbort(0, status, why):
		p.host.tellAbort(0)
	default:
		p.host.linger() // it is aborted already
	}
}

// Linger is for rank 0 when it has heard that the job can't go on, and before its
// process ends: it gives the others a second to hear the same, and to end. Else they
// would hear of rank 0's end.
func (p *Place) Linger() {
	if p.host != nil {
		p.host.linger()
	}
}

// Close ends the meeting. Rank 0, which has finalized by PMI and closed its PMI
// connection, waits until the others have too, or ctx ends; the error says which
// have not.
func (p *Place) Close(ctx context.Context) error {
	_ = p.Control.Close()
	if p.host == nil {
		return nil
	}
	return p.host.close(ctx)
}
