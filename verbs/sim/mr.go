package sim

import (
	"fmt"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

const pageSize = 4096

// region is an MR. Its address is one of the simulation, not the memory's:
// addresses of one process differ from run to run, and a trace must not.
type region struct {
	dev    *Device
	mem    memory
	access verbs.Access
	addr   uint64
	key    uint64
}

// Register implements verbs.Device. The device's owner is busy with it for a
// while of virtual time (see Busy).
func (d *Device) Register(mem []byte, a verbs.Access) (verbs.MR, error) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if d.closed {
		return nil, verbs.ErrClosed
	}
	if len(mem) == 0 {
		return nil, fmt.Errorf("%w: registration of no memory", verbs.ErrInvalid)
	}
	pages := (len(mem) + pageSize - 1) / pageSize
	d.busy = max(d.busy, d.net.now) + d.cfg.RegisterCall + time.Duration(pages)*d.cfg.RegisterPage
	d.count.registrations++
	r := &region{dev: d, mem: remember(mem), access: a, addr: d.nextAddr}
	d.nextAddr += uint64(pages+1) * pageSize // and a page that is nobody's
	for r.key == 0 || d.regions[r.key] != nil {
		r.key = uint64(d.net.rng.Uint32())
	}
	d.regions[r.key] = r
	return r, nil
}

// Addr implements verbs.MR.
func (r *region) Addr() uint64 { return r.addr }

// Key implements verbs.MR.
func (r *region) Key() uint64 { return r.key }

// Close implements verbs.MR. Chunks that have left are copies; nothing is read
// after it.
func (r *region) Close() error {
	r.dev.net.mu.Lock()
	defer r.dev.net.mu.Unlock()
	if r.dev.regions[r.key] == r {
		delete(r.dev.regions, r.key)
	}
	return nil
}

// readable gives the memory that a peer names, or nil if it may not read it.
func (d *Device) readable(from verbs.Remote, n int) []byte {
	r := d.regions[from.Key]
	if r == nil || r.access&verbs.AccessRead == 0 || from.Addr < r.addr {
		return nil
	}
	size, off := uint64(r.mem.size), from.Addr-r.addr
	if off > size || uint64(n) > size-off {
		return nil
	}
	mem := r.mem.bytes()
	if mem == nil {
		return nil
	}
	return mem[off : off+uint64(n) : off+uint64(n)]
}
