package hostlist

import "fmt"

// list gathers the hosts of one source, in the order in which they were first named.
type list struct {
	found    []Host
	bare     []int           // by host: mentions without a number of slots
	at       map[string]int  // by key: the host's place in found
	not      map[string]bool // user@name and @name of what is left out
	repeated bool            // some host was named twice without a number
}

// add takes an entry. The error has no file and no line yet.
func (l *list) add(e entry) *Error {
	if l.at == nil {
		l.at, l.not = map[string]int{}, map[string]bool{}
	}
	if e.not {
		l.not[e.User+"@"+nameKey(e.Name)] = true
		return full(len(l.not))
	}
	unstated := e.Slots == 0 && e.Max == 0
	if e.Slots == 0 {
		e.Slots = e.Max
	}
	i, known := l.at[e.key()]
	if known {
		h := &l.found[i]
		h.Slots += e.Slots
		h.Max = max(h.Max, e.Max)
	} else {
		i = len(l.found)
		l.found, l.bare = append(l.found, e.Host), append(l.bare, 0)
		l.at[e.key()] = i
	}
	if unstated {
		l.bare[i]++
		l.repeated = l.repeated || l.bare[i] > 1
	}
	h, slots := l.found[i], l.found[i].Slots+l.bare[i]
	switch {
	case slots > MaxSlots:
		return &Error{Text: h.Name, Want: fmt.Sprintf("at most %d slots of a host", MaxSlots)}
	case h.Max > 0 && slots > h.Max:
		return &Error{Text: h.Name, Want: fmt.Sprintf("at most max_slots=%d of it in all: found %d slots", h.Max, slots)}
	}
	return full(len(l.found))
}

func full(n int) *Error {
	if n > MaxHosts {
		return &Error{Want: fmt.Sprintf("at most %d hosts", MaxHosts)}
	}
	return nil
}

// hosts are those that aren't left out.
func (l *list) hosts() []Host {
	var hosts []Host
	for i, h := range l.found {
		if l.repeated || h.Slots > 0 {
			h.Slots += l.bare[i]
		}
		if !l.excludes(h) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// excludes: ^h leaves out h whoever the user is, and ^user@h only that.
func (l *list) excludes(h Host) bool {
	name := nameKey(h.Name)
	return l.not["@"+name] || l.not[h.User+"@"+name]
}
