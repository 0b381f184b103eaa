package comm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/internal/knobs"
	"github.com/verbena-mpi/verbena/internal/sysmon"
	"github.com/verbena-mpi/verbena/progress"
	"github.com/verbena-mpi/verbena/rendezvous"
	"github.com/verbena-mpi/verbena/srq"
	"github.com/verbena-mpi/verbena/verbs"
)

// Version is the library's.
const Version = knobs.Version

// card is what each rank publishes of itself.
type card struct {
	Version  string
	Protocol int
	Host     string
	Machine  []byte // the same exactly for ranks that can share memory
	Addr     []byte
	Types    bool // messages say of what element type they are
	Credits  int  // messages that each peer may send this rank to begin with
}

// Init connects this process to its job's other ranks: those that the launcher
// has started. A process that was started alone is a world of one. Collective.
//
// It raises GOMAXPROCS to 2 if it is 1 and the user hasn't set it: with one
// processor, a wake-up behind a computing goroutine takes milliseconds.
func Init(ctx context.Context, c Config) (*World, error) {
	log := logrus.New()
	s, err := c.resolve(os.Environ(), log)
	if err != nil {
		return nil, fmt.Errorf("comm: Init: %w", err)
	}
	if job := bootstrap.JobOf(ctx); job != nil {
		return initLocal(ctx, job, s, log)
	}
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
	if ownCore() {
		if err := sysmon.Batch(); err != nil {
			log.WithError(err).Debug("comm: the runtime's monitor will interrupt messages")
		}
	}
	job, err := bootstrap.FromEnv()
	if err != nil {
		return nil, fmt.Errorf("comm: Init: %w", err)
	}
	reportCrashes(job.Crash)
	prof, err := startProfile(os.Getenv("VERBENA_PPROF"), job.Rank, log)
	var w *World
	if err == nil {
		w, err = newWorld(ctx, job, s, log)
	}
	if err != nil {
		prof.stop()
		err = fmt.Errorf("comm: rank %d: Init: %w", job.Rank, err)
		job.Abort(1, oneLine(err))
		return nil, err
	}
	w.profile = prof
	w.attend(job.Control)
	return w, nil
}

// ownCore says whether the launcher has given this rank a core that no other rank
// uses.
func ownCore() bool { return os.Getenv("VERBENA_OWN_CORE") == "1" }

func newWorld(ctx context.Context, job *bootstrap.Job, s settings, log *logrus.Logger) (*World, error) {
	w := &World{job: job, settings: s, log: log, rank: job.Rank, size: job.Size, limit: s.EagerLimit.value, living: job.Size - 1}
	w.records.limit = s.Unexpected.value
	w.types.checked = s.CheckTypes.value
	err := w.open()
	if err != nil {
		return nil, err
	}
	if w.size > 1 {
		err = w.connect(ctx)
	} else {
		w.peers = []*peer{{}}
	}
	if err != nil {
		w.shut()
		return nil, err
	}
	w.all = w.newComm(worldContext, w.rank, w.peers, nil)
	return w, nil
}

// open opens the device, unless there is nobody to talk to, and the engine.
func (w *World) open() (err error) {
	local, alone := w.job.Local(), w.size == 1
	if !alone {
		if w.dev, err = openDevice(w.settings, w.size, local); err != nil {
			return err
		}
	}
	_, channels := w.dev.(verbs.Waker)
	w.eng, err = progress.New(progress.Config{
		OwnCore: ownCore() && local == nil, Background: !alone,
		Channels: channels || alone && local != nil,
	})
	if err == nil && !alone {
		if err = w.eng.AddDevice(w.dev); err != nil {
			w.eng.Close()
		}
	}
	if err != nil && !alone {
		_ = w.dev.Close()
	}
	return err
}

// connect tells the other ranks the device's address, and makes an endpoint for
// each of them. Connections are made at the first message.
func (w *World) connect(ctx context.Context) (err error) {
	w.eng.Lock()
	defer w.eng.Unlock()
	var upper eager.Upper = w
	limit := w.limit
	if w.types.checked {
		upper, limit = noted{w}, limit+eager.NoteSize
	}
	w.eager, err = eager.New(w.eng, w.dev, eager.Config{
		Inline: w.settings.MaxInline.value, Limit: limit, Depth: 128, Bounce: 64,
		Recv: srq.Config{
			Mode: w.settings.Recv.value, Slots: w.settings.Slots.value,
			Peers: w.size - 1, Overcommit: w.settings.Overcommit.value,
		},
	}, upper)
	if err != nil {
		return err
	}
	w.rndv = rendezvous.New(w.dev, w.eng.NeedSends)
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	mine, err := json.Marshal(card{
		Version: Version, Protocol: eager.Version, Types: w.types.checked,
		Host: host, Machine: machine(), Addr: w.dev.Addr(), Credits: w.eager.Credits(),
	})
	if err != nil {
		return err
	}
	w.eng.Unlock()
	cards, err := w.job.Exchange(ctx, "card", mine)
	w.eng.Lock() // until all peers are there: some may have sent already
	if err != nil {
		return err
	}
	for r, b := range cards {
		p, err := w.newPeer(r, b)
		if err != nil {
			return err
		}
		w.peers = append(w.peers, p)
	}
	return nil
}

// readCard reads and checks what a rank has published.
func (w *World) readCard(rank int, b []byte) (c card, err error) {
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("rank %d published what can't be read: %w", rank, err)
	}
	if c.Version != Version || c.Protocol != eager.Version {
		return c, fmt.Errorf("%w: rank %d on %s: verbena %s, protocol %d; rank %d: %s, protocol %d: rebuild",
			ErrVersion, rank, c.Host, c.Version, c.Protocol, w.rank, Version, eager.Version)
	}
	if c.Credits < 1 || c.Credits > 1<<20 {
		return c, fmt.Errorf("rank %d published %d credits, which can't be", rank, c.Credits)
	}
	if c.Types != w.types.checked {
		return c, fmt.Errorf("%w: rank %d on %s: %v; rank %d: %v", errTypesDiffer, rank, c.Host, c.Types, w.rank, w.types.checked)
	}
	return c, nil
}

func (w *World) newPeer(rank int, b []byte) (*peer, error) {
	c, err := w.readCard(rank, b)
	if err != nil {
		return nil, err
	}
	p := &peer{rank: rank, host: c.Host, machine: string(c.Machine), quota: quota(w.settings.Unexpected.value, w.size-1)}
	if rank == w.rank {
		return p, nil
	}
	if !reaches(c.Addr) {
		return nil, fmt.Errorf("rank %d on %s: %w", rank, c.Host, errNoDevice)
	}
	p.ep, err = w.eager.Endpoint(rank, c.Addr, uint32(w.rank), uint32(rank), c.Credits)
	if !w.types.checked { // else nothing is sent that has no note
		p.open = p.ep
	}
	return p, err
}

var errTypesDiffer = errors.New("Config.CheckTypes, or VERBENA_CHECK_TYPES, is not the same in all ranks")

var errNoDevice = errors.New("no device reaches it (shared memory needs the same host, network namespace and user)")
