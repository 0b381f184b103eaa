package inproc

import (
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// regions are a device's registrations. Addresses are names, and not the
// memory's: nothing is read by address.
type regions struct {
	byKey    map[uint64]*region
	lastKey  uint64
	nextAddr uint64
}

// region is an MR.
type region struct {
	dev    *Device
	mem    []byte
	access verbs.Access
	addr   uint64
	key    uint64
	taken  bool // see verbs.Taker
}

func newRegions() regions { return regions{byKey: make(map[uint64]*region), nextAddr: gap} }

// gap is what lies between the addresses of two registrations, and is nobody's.
const gap = 4096

// Register implements verbs.Device. It costs nothing.
func (d *Device) Register(mem []byte, a verbs.Access) (verbs.MR, error) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if d.closed {
		return nil, verbs.ErrClosed
	}
	if len(mem) == 0 {
		return nil, fmt.Errorf("%w: inproc: registration of no memory", verbs.ErrInvalid)
	}
	rs := &d.regions
	rs.lastKey++
	r := &region{dev: d, mem: mem, access: a, addr: rs.nextAddr, key: rs.lastKey}
	rs.nextAddr += uint64(len(mem)) + gap
	rs.byKey[r.key] = r
	return r, nil
}

// Addr implements verbs.MR.
func (r *region) Addr() uint64 { return r.addr }

// Key implements verbs.MR.
func (r *region) Key() uint64 { return r.key }

// Close implements verbs.MR. No read is under way while the lock is held.
func (r *region) Close() error {
	r.dev.net.mu.Lock()
	defer r.dev.net.mu.Unlock()
	delete(r.dev.regions.byKey, r.key)
	r.mem = nil
	return nil
}

// Revoke implements verbs.Revoker.
func (r *region) Revoke() bool {
	r.dev.net.mu.Lock()
	defer r.dev.net.mu.Unlock()
	if r.taken || r.dev.regions.byKey[r.key] != r {
		return false
	}
	delete(r.dev.regions.byKey, r.key)
	r.mem = nil
	return true
}

// Take implements verbs.Taker.
func (q *queuePair) Take(from verbs.Remote) bool {
	q.dev.net.mu.Lock()
	defer q.dev.net.mu.Unlock()
	if q.state != connected {
		return false
	}
	r := q.peer.dev.regions.byKey[from.Key]
	if r == nil {
		return false
	}
	r.taken = true
	return true
}

// read copies registered memory.
func (rs *regions) read(to []byte, from verbs.Remote) verbs.Status {
	if len(to) == 0 {
		return verbs.StatusOK
	}
	r := rs.byKey[from.Key]
	if r == nil || r.access&verbs.AccessRead == 0 || from.Addr < r.addr {
		return verbs.StatusRemoteAccess
	}
	size, off := uint64(len(r.mem)), from.Addr-r.addr
	if off > size || uint64(len(to)) > size-off {
		return verbs.StatusRemoteAccess
	}
	copy(to, r.mem[off:])
	return verbs.StatusOK
}
