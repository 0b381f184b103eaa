//go:build linux

package tcp

// counters count what the device does. They are written under the caller's lock.
type counters struct {
	reads       uint64 // system calls
	waits       uint64
	rnr         uint64
	asked       uint64
	readBytes   uint64
	serves      uint64
	servedBytes uint64
	railBytes   uint64
	refused     uint64
	dials       uint64
	corrupt     uint64
}

// Counters implements verbs.Counted: the system calls of the data path (calls.…),
// messages sent, and how many posts waited for others to leave with them
// (coalesced), rnr (messages that found no slot), reads by this device and by its
// peers, bytes of theirs that went over further rails, reads of theirs that were
// refused, connections that were dialed, that peers have dialed, and that were refused
// since who came proved nothing, and peers
// that broke the protocol.
func (d *Device) Counters(yield func(name string, value uint64) bool) {
	c, w := &d.count, &d.writing
	d.look.Lock()
	prefetched := d.hot.reads
	d.look.Unlock()
	w.mu.Lock()
	calls, messages, coalesced := w.calls, w.messages, w.coalesced
	w.mu.Unlock()
	for _, v := range []struct {
		name  string
		value uint64
	}{
		{"calls.send", calls},
		{"calls.recv", c.reads + prefetched},
		{"calls.wait", c.waits},
		{"messages", messages},
		{"coalesced", coalesced},
		{"rnr", c.rnr},
		{"reads", c.asked},
		{"reads.bytes", c.readBytes},
		{"served", c.serves},
		{"served.bytes", c.servedBytes},
		{"served.rails", c.railBytes},
		{"served.refused", c.refused},
		{"dials", c.dials},
		{"accepted", d.contacts.counts.accepted.Load()},
		{"strangers", d.contacts.counts.strangers.Load()},
		{"corrupt", c.corrupt},
	} {
		if !yield(v.name, v.value) {
			return
		}
	}
}
