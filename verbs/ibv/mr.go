//go:build ibv && cgo && linux

package ibv

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/verbena-mpi/verbena/verbs"
)

// region is registered memory. It keeps the memory alive and in its place.
type region struct {
	dev  *device
	mem  []byte
	base uint64
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
	return d.register(mem, a)
}

func (d *device) register(mem []byte, a verbs.Access) (*region, error) {
	r := &region{dev: d, mem: mem, base: addrOf(mem)}
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
	return addr >= r.base && n <= uint64(len(r.mem)) && addr-r.base <= uint64(len(r.mem))-n
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
