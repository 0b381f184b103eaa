//go:build ibv && cgo && linux

package ibv

import (
	"cmp"
	"runtime"
	"slices"
	"weak"

	"github.com/verbena-mpi/verbena/verbs"
)

// region is registered memory: where it lies. Only memory of the device's own is
// kept; other memory its owner keeps, as long as it is used. What is collected before
// it is deregistered is stale once other memory at that address is registered: by the
// old key the adapter would reach pages that the process has given back.
type region struct {
	dev     *device
	mem     []byte
	base    uint64
	size    uint64
	local   bool // the adapter may write it
	h       mrHandle
	key     uint32 // local
	pin     runtime.Pinner
	watched bool
	weak    weak.Pointer[byte] // if so
	stale   bool
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
	r.watch(&mem[0])
	r.pin.Unpin()
	r.mem = nil
	return r, nil
}

// watch makes it known when Go's memory is collected. Mapped memory isn't: AddCleanup
// panics there, while weak.Make would end the process.
func (r *region) watch(base *byte) {
	defer func() { _ = recover() }()
	runtime.AddCleanup(base, func(struct{}) {}, struct{}{}).Stop()
	r.weak, r.watched = weak.Make(base), true
}

// register is Register for memory of the device's own.
func (d *device) register(mem []byte, a verbs.Access) (*region, error) {
	r := &region{dev: d, mem: mem, base: addrOf(mem), size: uint64(len(mem)), local: a&verbs.AccessLocal != 0}
	r.pin.Pin(&mem[0])
	var err error
	if r.h, err = d.adapter.register(mem, a&verbs.AccessLocal != 0, a&verbs.AccessRead != 0); err != nil {
		r.pin.Unpin()
		return nil, err
	}
	r.key = lkey(r.h)
	for _, o := range d.regions {
		if o.base < r.base+r.size && r.base < o.base+o.size && o.watched && o.weak.Value() == nil {
			o.stale = true
		}
	}
	i, _ := slices.BinarySearchFunc(d.regions, r.base+1, byBase) // behind those with the same base
	d.regions = slices.Insert(d.regions, i, r)
	return r, nil
}

func byBase(r *region, base uint64) int { return cmp.Compare(r.base, base) }

func (r *region) Addr() uint64 { return r.base }
func (r *region) Key() uint64  { return uint64(rkey(r.h)) }

// serves says whether a request can name n bytes at addr by the region.
func (r *region) serves(addr, n uint64, write bool) bool {
	return !r.stale && (r.local || !write) && addr >= r.base && n <= r.size && addr-r.base <= r.size-n
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
// those that begin before mem the nearest is tried first, and of these the newest.
// A read, which writes mem, looks in this order each time: so does a cache of
// registrations, and it closes others while the read is under way.
func (d *device) localKey(mem []byte, write bool) (uint32, bool) {
	addr, n := addrOf(mem), uint64(len(mem))
	if r := d.recent; !write && r != nil && r.serves(addr, n, write) {
		return r.key, true
	}
	i, _ := slices.BinarySearchFunc(d.regions, addr+1, byBase)
	for i--; i >= 0; i-- {
		if r := d.regions[i]; r.serves(addr, n, write) {
			if !write {
				d.recent = r
			}
			return r.key, true
		}
	}
	return 0, false
}
