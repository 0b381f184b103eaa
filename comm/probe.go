package comm

import (
	"context"
	"slices"

	"github.com/verbena-mpi/verbena/internal/match"
)

// Probe waits until there is a message from rank peer, or AnySource, with a tag,
// or AnyTag, that a receive would get, and says who sent it, and how long it is.
// The message stays where it is: the next matching receive gets it, which may be
// another goroutine's. Where goroutines share a source and a tag, use Mprobe.
//
// It may be called concurrently. Errors are those of Recv; if ctx ends first it is
// the context's.
func (c *Comm) Probe(ctx context.Context, peer, tag int) (Status, error) {
	if err := c.checkFrom(peer, tag); err != nil {
		return Status{}, c.fail("Probe", peer, tag, nil, err)
	}
	if peer == ProcNull {
		return Status{Source: ProcNull, Tag: AnyTag}, nil
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	if u := w.table.Probe(c.key(peer, tag)); u != nil {
		return u.status(c), nil
	}
	r := w.get(c, "Probe", peer, tag, nil)
	defer w.put(r)
	w.startProbe(r)
	if err := r.wait(ctx); err != nil {
		w.probes = slices.DeleteFunc(w.probes, func(p *request) bool { return p == r })
		return Status{}, c.fail("Probe", peer, tag, nil, err)
	}
	return r.result()
}

// Iprobe is Probe that doesn't wait: it says whether there is a message. It moves
// messages along, and allocates nothing.
func (c *Comm) Iprobe(peer, tag int) (Status, bool, error) {
	if err := c.checkFrom(peer, tag); err != nil {
		return Status{}, false, c.fail("Iprobe", peer, tag, nil, err)
	}
	if peer == ProcNull {
		return Status{Source: ProcNull, Tag: AnyTag}, true, nil
	}
	w := c.world
	w.eng.Lock()
	defer w.eng.Unlock()
	u, err := c.look(peer, tag)
	switch {
	case err != nil:
		return Status{}, false, c.fail("Iprobe", peer, tag, nil, err)
	case u == nil:
		return Status{}, false, nil
	}
	return u.status(c), true, nil
}

// key is what messages of the communicator are matched by.
func (c *Comm) key(peer, tag int) match.Key {
	return match.Key{Context: c.context, Source: int32(c.worldRank(peer)), Tag: int32(tag)}
}

// look looks for an unexpected message, and polls once if there is none. An error
// says why none can come. The lock is held.
func (c *Comm) look(peer, tag int) (*unexpected, error) {
	w := c.world
	key := c.key(peer, tag)
	if u := w.table.Probe(key); u != nil {
		return u, nil
	}
	if w.closed {
		return nil, ErrClosed
	}
	if w.eng.Poll() > 0 {
		if u := w.table.Probe(key); u != nil {
			return u, nil
		}
	}
	return nil, c.reachable(peer, c.context)
}

// startProbe has r told of the next message that it would get. The lock is held.
func (w *World) startProbe(r *request) {
	err := r.comm.reachable(r.peer, r.comm.context)
	if w.closed {
		err = ErrClosed
	}
	if err != nil {
		r.complete(err)
		return
	}
	r.probing = r.comm.key(r.peer, r.tag)
	w.probes = append(w.probes, r)
}

// tellProbes ends the probes that an unexpected message is for.
func (w *World) tellProbes(u *unexpected, key match.Key) {
	w.endProbes(func(r *request) bool {
		if !r.probing.Accepts(key) {
			return false
		}
		r.status = u.status(r.comm)
		r.complete(nil)
		return true
	})
}

// failProbes ends the probes for messages of a rank.
func (w *World) failProbes(p *peer, err error) {
	w.endProbes(func(r *request) bool {
		if int(r.probing.Source) != p.rank {
			return false
		}
		r.complete(err)
		return true
	})
}

func (w *World) endProbes(end func(*request) bool) {
	if len(w.probes) != 0 {
		w.probes = slices.DeleteFunc(w.probes, end)
	}
}
