//go:build ibv && cgo && linux

package ibv

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/verbena-mpi/verbena/verbs"
)

// region is registered memory: where it lies. Only memory of the device's own is
// kept; other memory its owner keeps, as long as it is used.
type region struct {
	dev  *device
	mem  []byte
	base uint64
	size uint64
	h    mrHandle
	key  uint32 // local
	pin  runtime.Pinner
}

func (d *device) Register(mem []byte, a verbs.Access) (verbs.MR, error) {
	if d.closed {
		return nil, verbs.ErrClosed
	}
	if len(mem) == 0 {
		return nil, verbs.ErrInvalid
	}
	r, err := d.register(mem, a)
	if err != nil {
		return nil, err
	}
	r.pin.Unpin()
	r.mem = nil
	return r, nil
}

// register is Register for memory of the device's own.
func (d *device) register(mem []byte, a verbs.Access) (*region, error) {
	r := &region{dev: d, mem: mem, base: addrOf(mem), size: uint64(len(mem))}
	r.pin.Pin(&mem[0])
	var err error
	if r.h, err = d.adapter.register(mem, a&verbs.AccessLocal != 0, a&verbs.AccessRead != 0); err != nil {
		r.pin.Unpin()
		return nil, err
	}
	r.key = lkey(r.h)
	i, _ := slices.BinarySearchFunc(d.regions, r.base, byBase)
	d.regions = slices.Insert(d.regions, i, r)
	return r, nil
}

func byBase(r *region, base uint64) int { return cmp.Compare(r.base, base) }

func (r *region) Addr() uint64 { return r.base }
func (r *region) Key() uint64  { return uint64(rkey(r.h)) }

func (r *region) holds(addr, n uint64) bool {
	return addr >= r.base && n <= r.size && addr-r.base <= r.size-n
}

// Close takes the right back: the library returns when the adapter has
// forgotten the memory. A read or send that still uses it fails, and takes its
// queue pair along.
func (r *region) Close() error {
	i := slices.Index(r.dev.regions, r)
	if i < 0 {
		return verbs.ErrClosed
	}
	if err := deregister(r.h); err != nil {
		return err
	}
	r.dev.regions = slices.Delete(r.dev.regions, i, i+1)
	if r.dev.recent == r {
		r.dev.recent = nil
	}
	r.pin.Unpin()
	r.mem = nil
	return nil
}

// localKey finds the registration that holds mem. Registrations may overlap: of
// those that begin before mem the nearest is tried first.
func (d *device) localKey(mem []byte) (uint32, bool) {
	addr, n := addrOf(mem), uint64(len(mem))
	if r := d.recent; r != nil && r.holds(addr, n) {
		return r.key, true
	}
	i, _ := slices.BinarySearchFunc(d.regions, addr+1, byBase)
	for i--; i >= 0; i-- {
		if r := d.regions[i]; r.holds(addr, n) {
			d.recent = r
			return r.key, true
		}
	}
	return 0, false
}
