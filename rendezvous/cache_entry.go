package rendezvous

import (
	"container/list"
	"runtime"
	"sync"
	"weak"

	"github.com/verbena-mpi/verbena/verbs"
)

// entry is a registration of the cache's. Its users have it as an MR, which they
// close: then it is idle, and not closed.
type entry struct {
	verbs.MR // the device's
	cache    *cache
	access   verbs.Access
	base     uint64 // where the memory is in this process
	size     uint64
	weak     weak.Pointer[byte]
	cleanup  runtime.Cleanup
	listed   bool          // may be found
	uses     int           // it is idle without
	mem      []byte        // keeps the object while there are some
	place    *list.Element // among the idle ones
}

// watch has the end of the memory at base reported, and returns false where that
// can't be: memory that was mapped isn't the collector's. There AddCleanup panics,
// but weak.Make ends the process; so that one comes second.
func (e *entry) watch(base *byte) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	e.cleanup = runtime.AddCleanup(base, func(e *entry) { e.cache.gone.add(e) }, e)
	e.weak = weak.Make(base)
	return true
}

// alive says whether the object that was registered is still there. What lies at its
// address may be another.
func (e *entry) alive() bool { return pointerAddress(e.weak.Value()) == e.base }

func (e *entry) holds(base, size uint64) bool {
	off := base - e.base
	return base >= e.base && off <= e.size && size <= e.size-off
}

func (c *cache) use(e *entry, mem []byte) {
	if e.uses == 0 {
		c.idle.Remove(e.place)
		e.mem = mem
	}
	e.uses++
}

// Close gives an entry back to the cache.
func (e *entry) Close() error {
	if e.uses--; e.uses > 0 {
		return nil
	}
	e.mem = nil
	if !e.listed {
		return e.MR.Close()
	}
	e.place = e.cache.idle.PushBack(e)
	e.cache.shrink()
	return nil
}

// forget has a registration closed, and not kept, when its last user is done.
func forget(mr verbs.MR) {
	if e, ok := mr.(*entry); ok {
		e.cache.drop(e)
	}
}

// departed are entries whose memory was collected. The runtime says so on a
// goroutine of its own, which must not wait for the engine's lock: they stay here
// until the cache is used again.
type departed struct {
	mu      sync.Mutex
	entries []*entry
}

func (d *departed) add(e *entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, e)
}

func (d *departed) take() []*entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.entries
	d.entries = nil
	return s
}
