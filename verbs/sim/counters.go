package sim

// counts is what a device counts.
type counts struct {
	sends, reads, readBytes  uint64
	received                 uint64
	rnr, retries, lost       uint64
	registrations, cqOverrun uint64
}

// Counters implements verbs.Counted.
func (d *Device) Counters(yield func(name string, value uint64) bool) {
	d.net.mu.Lock()
	c := d.count
	d.net.mu.Unlock()
	for _, e := range []struct {
		name  string
		value uint64
	}{
		{"sends", c.sends},
		{"reads", c.reads},
		{"read_bytes", c.readBytes},
		{"received", c.received},
		{"rnr", c.rnr},
		{"retries", c.retries},
		{"lost", c.lost},
		{"registrations", c.registrations},
		{"cq_overruns", c.cqOverrun},
	} {
		if !yield(e.name, e.value) {
			return
		}
	}
}
