package comm

import (
	"fmt"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/rendezvous"
	"github.com/verbena-mpi/verbena/srq"
	"github.com/verbena-mpi/verbena/verbs"
)

// transport is a device in use, with the protocols over it. A world has one for each
// device that reaches somebody; each peer is reached over one of them, for good.
// Guarded by eng's lock.
type transport struct {
	kind  *deviceKind
	dev   verbs.Device
	eager *eager.Layer
	rndv  *rendezvous.Layer
}

// openDevice opens a device that the settings allow. The secret is for one that isn't
// near.
func (w *World) openDevice(k *deviceKind, s secret.Secret) (verbs.Device, error) {
	d, err := k.open(opening{settings: w.settings, ranks: w.size, local: w.job.Local(), secret: s, log: w.log})
	if err != nil {
		with := ""
		if net := w.settings.Net; !k.near && net.value != "" {
			with = fmt.Sprintf(" with VERBENA_NET=%s (%s)", net.value, net.origin)
		}
		return nil, fmt.Errorf("device %s%s: %w", k.name, with, err)
	}
	return d, nil
}

// addTransport makes the protocols over a device, for so many peers. The device is the
// world's from now on.
func (w *World) addTransport(k *deviceKind, dev verbs.Device, peers int) (err error) {
	w.eng.Lock()
	t := &transport{kind: k, dev: dev}
	w.transports = append(w.transports, t)
	if t.eager, err = eager.New(w.eng, dev, w.eagerConfig(peers), w.upper()); err == nil {
		t.rndv = rendezvous.New(dev, t.eager.NeedSends)
	}
	w.eng.Unlock()
	if err != nil {
		return err
	}
	return w.eng.AddDevice(dev) // now that all its queues are there
}

// upper is who the messages of a transport are for.
func (w *World) upper() eager.Upper {
	if w.types.checked {
		return noted{w}
	}
	return w
}

// eagerConfig is the eager protocol's over a device that reaches so many peers.
func (w *World) eagerConfig(peers int) eager.Config {
	limit := w.limit
	if w.types.checked {
		limit += eager.NoteSize
	}
	return eager.Config{
		Inline: w.settings.MaxInline.value, Limit: limit, Depth: 128, Bounce: 64,
		Recv: srq.Config{
			Mode: w.settings.Recv.value, Slots: w.settings.Slots.value,
			Peers: peers, Overcommit: w.settings.Overcommit.value,
		},
	}
}

// credits is how many messages each of so many peers may send this rank to begin with.
func (w *World) credits(peers int) int { return w.eagerConfig(peers).Recv.Initial(peers) }

// allocator is the device with memory that peers read without help, or nil.
func (w *World) allocator() verbs.Allocator {
	for _, t := range w.transports {
		if a, ok := t.dev.(verbs.Allocator); ok {
			return a
		}
	}
	return nil
}

// closeDevices closes the devices, and ends what only they could have ended. The engine
// is closed, and its lock held. What one device has given memory for another may still
// read: the first one, which gives memory, is closed last.
func (w *World) closeDevices() {
	for i := len(w.transports) - 1; i >= 0; i-- {
		t := w.transports[i]
		if err := t.dev.Close(); err != nil {
			w.log.WithError(err).Warnf("comm: closing device %s", t.kind.name)
		}
		if t.rndv != nil { // else it never worked
			t.rndv.Abandon(ErrClosed)
		}
	}
}

// dieDevices has all devices end as with the death of their process.
func (w *World) dieDevices() {
	for _, t := range w.transports {
		if d, ok := t.dev.(verbs.Mortal); ok {
			d.Die()
		}
	}
}
