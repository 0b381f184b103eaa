//go:build linux

package tcp

import (
	"bytes"
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"

	"github.com/verbena-mpi/verbena/verbs"
)

// regions are a device's registrations. A key is a random number: a peer that was not
// told it doesn't find it.
type regions struct {
	byKey map[uint64]*region
	rand  *rand.ChaCha8
}

// region is registered memory.
type region struct {
	mem  []byte
	addr uint64
	uses int // reads that are being served from it, and parts of them; guarded by writing.mu
}

func (r *regions) init() error {
	var seed [32]byte
	if _, err := crand.Read(seed[:]); err != nil {
		return fmt.Errorf("tcp: %w", err)
	}
	r.byKey, r.rand = make(map[uint64]*region), rand.NewChaCha8(seed)
	return nil
}

func (r *regions) closeAll() { clear(r.byKey) }

// find returns registered memory, or nil.
func (r *regions) find(q request) (*region, []byte) {
	g := r.byKey[q.key]
	if g == nil {
		return nil, nil
	}
	off, size := q.addr-g.addr, uint64(len(g.mem))
	if off > size || q.length > size-off {
		return nil, nil
	}
	return g, g.mem[off : off+q.length : off+q.length]
}

// mr is a registration. One for local use only has key 0.
type mr struct {
	dev  *Device
	addr uint64
	key  uint64
}

func (m *mr) Addr() uint64 { return m.addr }
func (m *mr) Key() uint64  { return m.key }

// Register implements verbs.Device. It costs nothing but an entry.
func (d *Device) Register(mem []byte, a verbs.Access) (verbs.MR, error) {
	if d.closed || d.dead {
		return nil, verbs.ErrClosed
	}
	m := &mr{dev: d, addr: address(mem)}
	if a&verbs.AccessRead == 0 {
		return m, nil
	}
	if len(mem) == 0 {
		return nil, fmt.Errorf("%w: tcp: registration of no memory", verbs.ErrInvalid)
	}
	r := &d.regions
	for m.key == 0 || r.byKey[m.key] != nil {
		m.key = r.rand.Uint64()
	}
	r.byKey[m.key] = &region{mem: mem, addr: m.addr}
	return m, nil
}

// Close implements verbs.MR. Reads that are being served end with a refusal. What is
// missing of a part that is under way must still be sent: it is copied.
func (m *mr) Close() error {
	d := m.dev
	g := d.regions.byKey[m.key]
	if m.key == 0 || g == nil {
		return nil
	}
	delete(d.regions.byKey, m.key)
	d.writing.mu.Lock()
	defer d.writing.mu.Unlock()
	if g.uses > 0 {
		for _, q := range d.serving {
			q.refuseAll(g)
		}
		for _, c := range d.poll.conns {
			if c != nil && c.out.part.region == g {
				c.out.part.mem = bytes.Clone(c.out.part.mem)
				d.writing.forget(&c.out.part)
			}
		}
	}
	g.mem = nil
	return nil
}
