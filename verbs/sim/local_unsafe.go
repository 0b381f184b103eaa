package sim

import (
	"unsafe"

	"github.com/verbena-mpi/verbena/verbs"
)

// registered says whether mem lies in a registration that allows a request: a
// read writes it, a send only reads it.
func (d *Device) registered(mem []byte, op verbs.Op) bool {
	if len(mem) == 0 {
		return true
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	for _, r := range d.regions {
		base := uintptr(unsafe.Pointer(unsafe.SliceData(r.mem)))
		if op == verbs.OpRead && r.access&verbs.AccessLocal == 0 {
			continue
		}
		if at >= base && len(mem) <= len(r.mem) && at-base <= uintptr(len(r.mem)-len(mem)) {
			return true
		}
	}
	return false
}
