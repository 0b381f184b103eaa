package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/internal/knobs"
	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/internal/sysmon"
	"github.com/verbena-mpi/verbena/progress"
	"github.com/verbena-mpi/verbena/verbs"
)

// Version is the library's.
const Version = knobs.Version

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
	job, err := bootstrap.FromEnv(ctx)
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
	var err error
	if w.settings.Devices.value, err = s.Devices.value.forJob(job.Local()); err != nil && w.size > 1 {
		return nil, err
	}
	if err := w.openEngine(); err != nil {
		return nil, err
	}
	if w.size > 1 {
		err = w.connect(ctx)
	} else {
		err, w.peers = nil, []*peer{{near: true}}
	}
	if err != nil {
		w.shut()
		return nil, err
	}
	w.all = w.newComm(worldContext, w.rank, w.peers, nil)
	return w, nil
}

// openEngine opens the engine, for devices that are opened later.
func (w *World) openEngine() (err error) {
	local, alone := w.job.Local(), w.size == 1
	w.eng, err = progress.New(progress.Config{
		OwnCore: ownCore() && local == nil, Background: !alone,
		Channels: local != nil && (alone || w.settings.Devices.value.inside()),
	})
	return err
}

// connect opens the devices that the ranks need, tells the other ranks their addresses,
// and makes an endpoint for each of them. Connections are made at the first message.
//
// Ranks of one machine need one device, and tell each other of it with their cards. If
// there are others too, which all ranks see from the cards, a second device is opened.
func (w *World) connect(ctx context.Context) (err error) {
	kind := w.settings.Devices.value.near()
	var near verbs.Device
	if kind != nil {
		if near, err = w.openDevice(kind, secret.Secret{}); err != nil {
			return err
		}
	}
	cards, err := w.exchangeCards(ctx, near)
	here := w.neighbours(cards)
	switch {
	case err == nil && here > 0:
		err = w.addTransport(kind, near, here)
	case near != nil: // it reaches nobody
		err = errors.Join(err, near.Close())
	}
	var nets []netCard
	if err == nil && here < w.size-1 {
		nets, err = w.connectFar(ctx, cards, here)
	}
	if err != nil {
		return err
	}
	return w.meet(cards, nets)
}

// exchangeCards publishes this rank's card, and returns those of all, which go
// together.
func (w *World) exchangeCards(ctx context.Context, near verbs.Device) ([]card, error) {
	mine := w.card(near)
	cards, err := exchange(ctx, w.job, "card", mine)
	if err != nil {
		return nil, err
	}
	for r, c := range cards {
		if err := mine.check(w.rank, c, r); err != nil {
			return nil, err
		}
	}
	return cards, nil
}

// neighbours is how many other ranks are reached over the device for ranks of one
// machine.
func (w *World) neighbours(cards []card) (n int) {
	for r := range cards {
		if r != w.rank && cards[r].near(&cards[w.rank]) {
			n++
		}
	}
	return n
}

// connectFar opens the device for ranks of other machines, and exchanges its addresses.
// So many ranks are on this machine.
func (w *World) connectFar(ctx context.Context, cards []card, here int) ([]netCard, error) {
	kind := w.settings.Devices.value.far()
	if kind == nil {
		return nil, w.unreachable(cards)
	}
	ours, err := secret.Parse(cards[0].Secret)
	if err != nil {
		return nil, fmt.Errorf("the secret that rank 0 on %s published: %w", cards[0].Host, err)
	}
	dev, err := w.openDevice(kind, ours)
	if err != nil {
		return nil, err
	}
	there := w.size - 1 - here
	if err := w.addTransport(kind, dev, there); err != nil {
		return nil, err
	}
	nets, err := exchange(ctx, w.job, "net", netCard{Addr: dev.Addr(), Credits: w.credits(there), Near: w.credits(here)})
	if err != nil {
		return nil, err
	}
	for r, n := range nets {
		if err := n.check(r); err != nil {
			return nil, err
		}
		if !cards[r].near(&cards[w.rank]) && !kind.reaches(n.Addr) {
			return nil, fmt.Errorf("rank %d on %s: %w: what it published for device %s is no address that rank %d on %s could reach",
				r, cards[r].Host, errNoDevice, kind.name, w.rank, cards[w.rank].Host)
		}
	}
	return nets, nil
}

// unreachable is the error of a rank of another machine, where there is no device for
// such.
func (w *World) unreachable(cards []card) error {
	s := w.settings.Devices
	for r := range cards {
		if r != w.rank && !cards[r].near(&cards[w.rank]) {
			return fmt.Errorf("rank %d on %s: %w: VERBENA_DEVICES=%s (%s) has none for ranks that don't share host, network namespace and user with rank %d on %s",
				r, cards[r].Host, errNoDevice, s.value.text, s.origin, w.rank, cards[w.rank].Host)
		}
	}
	return errNoDevice
}

// meet makes the peers, of whom some may have sent already: the lock is held until all
// are there.
func (w *World) meet(cards []card, nets []netCard) (err error) {
	w.eng.Lock()
	defer w.eng.Unlock()
	for r := range cards {
		c := &cards[r]
		p := &peer{rank: r, host: c.Host, near: bytes.Equal(c.Machine, cards[w.rank].Machine), quota: quota(w.settings.Unexpected.value, w.size-1)}
		w.peers = append(w.peers, p)
		if r == w.rank {
			continue
		}
		addr, credits := c.Addr, c.Credits
		switch near := c.near(&cards[w.rank]); {
		case near && nets == nil:
			p.via = w.transports[0]
		case near:
			p.via, credits = w.transports[0], nets[r].Near
		default:
			p.via, addr, credits = w.transports[len(w.transports)-1], nets[r].Addr, nets[r].Credits
		}
		if p.ep, err = p.via.eager.Endpoint(r, addr, uint32(w.rank), uint32(r), credits); err != nil {
			return err
		}
		if !w.types.checked { // else nothing is sent that has no note
			p.open = p.ep
		}
	}
	return nil
}
