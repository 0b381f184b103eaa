package eager

// table finds endpoints by the numbers of their queue pairs, which a device
// chooses: open addressing, at most half full.
type table struct {
	slots []*Endpoint
	n     int
}

func (t *table) add(ep *Endpoint) {
	if 2*(t.n+1) > len(t.slots) {
		old := t.slots
		t.slots = make([]*Endpoint, max(8, 2*len(old)))
		for _, e := range old {
			if e != nil {
				t.insert(e)
			}
		}
	}
	t.insert(ep)
	t.n++
}

func (t *table) insert(ep *Endpoint) {
	mask := uint32(len(t.slots) - 1)
	i := ep.num & mask
	for t.slots[i] != nil {
		i = (i + 1) & mask
	}
	t.slots[i] = ep
}

func (t *table) find(num uint32) *Endpoint {
	if len(t.slots) == 0 {
		return nil
	}
	mask := uint32(len(t.slots) - 1)
	for i := num & mask; ; i = (i + 1) & mask {
		ep := t.slots[i]
		if ep == nil || ep.num == num {
			return ep
		}
	}
}
