package rendezvous

import (
	"container/list"

	"github.com/verbena-mpi/verbena/verbs"
)

// cache keeps registrations for the next message from, or into, the same memory:
// where registering takes the kernel's help it costs more than sending some
// kilobytes. It is used where Attr.Registration says so. Everything in it is
// guarded by the engine's lock, but for what the entries say that are collected.
//
// A registration in use keeps its memory, which its users (Send, Pull) have pinned.
// An idle one has no more than a weak pointer: the program's memory is not held for
// the cache's sake. Its address may be that of another object before anybody has
// heard that the first one is gone, so an address is never enough for a hit.
//
// Registrations are not merged. A range is found in the one that begins nearest
// before it, and a larger one of the same object takes the place of smaller ones.
//
// The price: a registration for reading stays open while it is idle. A peer that was
// offered a message and keeps the key can read that memory until the registration
// is evicted or the memory collected, and what is sent from it later as well. Peers
// are ranks of one job, and trust each other that far; a registration whose peer is
// lost or has failed to read is not kept.
type cache struct {
	dev        verbs.Device
	count      *Counters
	max        int    // entries
	maxBytes   uint64 // and bytes; more are kept only while they are in use
	kept       map[verbs.Access]index
	bytes      uint64
	idle       list.List // of *entry, that which was used the longest ago first
	gone       departed
	registered int // entries in kept
}

// The bounds of a cache. Adapters pin what is registered, so that it can't be
// swapped out.
const (
	cacheEntries = 1024
	cacheBytes   = 1 << 30
)

func newCache(dev verbs.Device, count *Counters) *cache {
	return &cache{dev: dev, count: count, max: cacheEntries, maxBytes: cacheBytes, kept: make(map[verbs.Access]index)}
}

// acquire returns a registration in which mem lies, and the address that mem has in
// it. The caller closes it when it doesn't use it any more, and keeps mem until
// then.
func (c *cache) acquire(mem []byte, a verbs.Access) (verbs.MR, uint64, error) {
	c.drain()
	base, size := addressOf(mem), uint64(len(mem))
	if e := c.find(base, size, a); e != nil {
		c.count.RegHits++
		c.use(e, mem)
		return e, e.Addr() + base - e.base, nil
	}
	c.makeWay(base, size, a)
	mr, err := c.register(mem, a)
	if err != nil {
		return nil, 0, err
	}
	c.count.RegMisses++
	e := &entry{MR: mr, cache: c, base: base, size: size, access: a}
	if !e.watch(&mem[0]) {
		return mr, mr.Addr(), nil
	}
	c.kept[a] = c.kept[a].insert(e)
	c.registered++
	c.bytes += size
	e.uses, e.mem, e.listed = 1, mem, true
	c.shrink()
	return e, e.Addr(), nil
}

// register asks the device. What it can pin is limited: idle registrations give way.
func (c *cache) register(mem []byte, a verbs.Access) (verbs.MR, error) {
	for {
		mr, err := c.dev.Register(mem, a)
		if err == nil || c.idle.Len() == 0 {
			return mr, err
		}
		c.evict()
	}
}

// find returns the entry in which a range lies, of an object that is still there.
func (c *cache) find(base, size uint64, a verbs.Access) *entry {
	for {
		e := c.kept[a].before(base)
		switch {
		case e == nil:
			return nil
		case !e.alive():
			c.drop(e)
		case e.holds(base, size):
			return e
		default:
			return nil
		}
	}
}

// makeWay drops what a new registration of a range makes void: those of objects
// that were there before (a device that looks for local memory by its address would
// find them), and idle ones that lie in it.
func (c *cache) makeWay(base, size uint64, a verbs.Access) {
	for access, kept := range c.kept {
		var void []*entry
		for _, e := range kept {
			if e.base >= base+size {
				break
			}
			within := access == a && e.uses == 0 && e.base >= base && e.base+e.size <= base+size
			if e.base+e.size > base && (within || !e.alive()) {
				void = append(void, e)
			}
		}
		for _, e := range void {
			c.drop(e)
		}
	}
}

// drop takes an entry out: nobody finds it any more. It is deregistered at once, or
// when its last user is done.
func (c *cache) drop(e *entry) {
	if !e.listed {
		return
	}
	e.listed = false
	e.cleanup.Stop()
	c.kept[e.access] = c.kept[e.access].remove(e)
	c.registered--
	c.bytes -= e.size
	if e.uses == 0 {
		c.idle.Remove(e.place)
		_ = e.MR.Close()
	}
}

// drain deregisters what was collected.
func (c *cache) drain() {
	for _, e := range c.gone.take() {
		c.drop(e)
	}
}

// close forgets everything: the device is closed, and its registrations with it.
func (c *cache) close() {
	for _, kept := range c.kept {
		for _, e := range kept {
			e.listed = false
			e.cleanup.Stop()
		}
	}
	clear(c.kept)
	c.idle.Init()
	c.registered, c.bytes = 0, 0
}

// shrink evicts idle entries, down to the bounds.
func (c *cache) shrink() {
	for c.idle.Len() != 0 && (c.registered > c.max || c.bytes > c.maxBytes) {
		c.evict()
	}
}

func (c *cache) evict() {
	c.count.RegEvictions++
	c.drop(c.idle.Front().Value.(*entry))
}
