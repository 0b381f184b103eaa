//go:build linux

package shm

// counters count what the device does. They are written under the caller's lock.
type counters struct {
	slots  uint64
	rnr    uint64
	direct uint64
	stream uint64
	copy   uint64
	denied uint64
	stalls uint64
}

// Counters implements verbs.Counted: slots (messages sent through a slot), rnr
// (sends that found no slot), reads by their way, denied (reads whose way was
// denied, and that went on by streaming), stalls (streamed reads whose target
// did not move, and that went on by single copy).
func (d *Device) Counters(yield func(name string, value uint64) bool) {
	c := &d.count
	for _, v := range []struct {
		name  string
		value uint64
	}{
		{"slots", c.slots},
		{"rnr", c.rnr},
		{"reads.direct", c.direct},
		{"reads.stream", c.stream},
		{"reads.copy", c.copy},
		{"reads.denied", c.denied},
		{"reads.stalled", c.stalls},
	} {
		if !yield(v.name, v.value) {
			return
		}
	}
}
