package hostlist

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Bounds of what is read.
const (
	MaxHosts = 16384
	MaxSlots = 65536 // of a host
	maxName  = 255
	maxText  = 4 << 20 // of a file, or of a list
)

// Host is a host of a job.
type Host struct {
	Name  string // or an address: no brackets, an IPv6 zone after %
	User  string // for ssh; "": what ssh thinks
	Port  int    // for ssh; 0: what ssh thinks
	Slots int    // how many ranks it is for; 0: not stated
	Max   int    // how many it may have with oversubscription; 0: any number. Never below Slots

	Local bool // it is this host (Self.Mark): no ssh is needed

	File string // where it was named, for messages: a file, or a flag's name
	Line int    // of File, from 1; 0: File has no lines
}

// String is a line of a hostfile that means the same host.
func (h Host) String() string {
	var b strings.Builder
	if h.User != "" {
		b.WriteString(h.User + "@")
	}
	b.WriteString(h.address())
	for _, n := range []struct {
		key   string
		value int
	}{{"slots", h.Slots}, {"max_slots", h.Max}, {"port", h.Port}} {
		if n.value != 0 {
			b.WriteString(" " + n.key + "=" + strconv.Itoa(n.value))
		}
	}
	return b.String()
}

// Where says where the host was named: "file:3", "--host", or nothing.
func (h Host) Where() string {
	if h.Line == 0 {
		return h.File
	}
	return fmt.Sprintf("%s:%d", h.File, h.Line)
}

// address is the name, in brackets if it has colons.
func (h Host) address() string {
	if strings.Contains(h.Name, ":") {
		return "[" + h.Name + "]"
	}
	return h.Name
}

// key is the same for two entries that are one host, reached in one way.
func (h Host) key() string {
	return h.User + "@" + nameKey(h.Name) + ":" + strconv.Itoa(h.Port)
}

// nameKey is the same for names that the domain name system takes for the same, and for
// spellings of an address.
func nameKey(s string) string {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.Unmap().String()
	}
	return strings.ToLower(strings.TrimSuffix(s, "."))
}

// Format is a hostfile with these hosts.
func Format(hosts []Host) string {
	var b strings.Builder
	for _, h := range hosts {
		b.WriteString(h.String() + "\n")
	}
	return b.String()
}

// Validate checks a host that a program has made, as the parsers check theirs.
func (h Host) Validate() error {
	at := h.Where()
	if at == "" {
		at = "host"
	}
	switch {
	case !goodName(h.Name) && !isIPv6(h.Name):
		return &Error{File: at, Text: h.Name, Want: "a host's name or address"}
	case h.User != "" && !goodUser(h.User):
		return &Error{File: at, Text: h.User, Want: "a user's name"}
	case h.Port < 0 || h.Port > 65535:
		return &Error{File: at, Text: strconv.Itoa(h.Port), Want: "a port from 1 to 65535, or 0"}
	case h.Slots < 0 || h.Slots > MaxSlots || h.Max < 0 || h.Max > MaxSlots:
		return &Error{File: at, Text: h.String(), Want: fmt.Sprintf("numbers of slots up to %d", MaxSlots)}
	case h.Max > 0 && h.Max < h.Slots:
		return &Error{File: at, Text: h.String(), Want: "max_slots of slots or more"}
	}
	return nil
}
