package sim

import (
	"runtime"
	"unsafe"
	"weak"

	"github.com/verbena-mpi/verbena/verbs"
)

// memory is what a registration knows of its memory: where it lies. It does not
// keep it, as an adapter doesn't; but it knows when it is gone.
type memory struct {
	base  weak.Pointer[byte]
	fixed []byte // memory that isn't Go's
	at    uintptr
	size  int
}

func remember(mem []byte) (m memory) {
	m.at, m.size = addressOf(mem), len(mem)
	// Only memory of Go's has weak pointers, and weak.Make can't be asked: it ends
	// the process. AddCleanup panics.
	defer func() {
		if recover() != nil {
			m.fixed = mem
		}
	}()
	runtime.AddCleanup(&mem[0], func(struct{}) {}, struct{}{}).Stop()
	m.base = weak.Make(&mem[0])
	return m
}

// bytes is nil when the memory has been collected.
func (m *memory) bytes() []byte {
	if m.fixed != nil {
		return m.fixed
	}
	p := m.base.Value()
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, m.size)
}

// registered says whether mem lies in a registration that allows a request: a
// read writes it, a send only reads it.
func (d *Device) registered(mem []byte, op verbs.Op) bool {
	if len(mem) == 0 {
		return true
	}
	at := addressOf(mem)
	for _, r := range d.regions {
		if op == verbs.OpRead && r.access&verbs.AccessLocal == 0 {
			continue
		}
		m := &r.mem
		if at >= m.at && len(mem) <= m.size && at-m.at <= uintptr(m.size-len(mem)) && m.bytes() != nil {
			return true
		}
	}
	return false
}

func addressOf(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }
