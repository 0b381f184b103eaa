package rendezvous

import "github.com/verbena-mpi/verbena/verbs"

// Layer is the rendezvous protocol over one device.
type Layer struct {
	dev   verbs.Device
	cache *cache    // nil where registering costs nothing
	needs func(int) // eager.Layer.NeedSends
	byte  []byte    // stands for the memory of empty messages
	pulls []*Pull   // reads in flight, by work request
	free  []int
	count Counters
}

// Counters count what the protocol did.
type Counters struct {
	Offers    uint64
	Pulls     uint64
	Finishes  uint64
	Withdrawn uint64

	// Registrations that the cache had, that it hadn't, and that it gave up for
	// others. Zero where there is no cache.
	RegHits, RegMisses, RegEvictions uint64
}

// New makes the layer. Needs is told how many reads are waited for.
func New(dev verbs.Device, needs func(int)) *Layer {
	l := &Layer{dev: dev, needs: needs, byte: make([]byte, 1)}
	if dev.Attr().Registration {
		l.cache = newCache(dev, &l.count)
	}
	return l
}

// Counters returns a copy.
func (l *Layer) Counters() Counters { return l.count }

// register returns a registration in which mem lies, and the address of mem in it.
func (l *Layer) register(mem []byte, a verbs.Access) (verbs.MR, uint64, error) {
	if l.cache != nil {
		return l.cache.acquire(mem, a)
	}
	mr, err := l.dev.Register(mem, a)
	if err != nil {
		return nil, 0, err
	}
	return mr, mr.Addr(), nil
}
