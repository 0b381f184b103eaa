package sim

import (
	"unsafe"

	"github.com/verbena-mpi/verbena/verbs"
)

// registered says whether mem lies in a registration with AccessLocal.
func (d *Device) registered(mem []byte) bool {
	if len(mem) == 0 {
		return true
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	for _, r := range d.regions {
		base := uintptr(unsafe.Pointer(unsafe.SliceData(r.mem)))
		if r.access&verbs.AccessLocal != 0 && at >= base && at-base <= uintptr(len(r.mem)-len(mem)) && len(mem) <= len(r.mem) {
			return true
		}
	}
	return false
}
