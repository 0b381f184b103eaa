package rendezvous

// idle puts an entry at the end of the idle ones.
func (c *cache) idle(e *entry) {
	e.prev, e.next = c.last, nil
	if c.last == nil {
		c.first = e
	} else {
		c.last.next = e
	}
	c.last = e
}

func (c *cache) unidle(e *entry) {
	if e.prev == nil {
		c.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		c.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.next, e.prev = nil, nil
}

// shrink evicts idle entries, down to the bounds.
func (c *cache) shrink() {
	for c.first != nil && (c.registered > c.max || c.bytes > c.maxBytes) {
		c.evict()
	}
}

func (c *cache) evict() {
	c.count.RegEvictions++
	c.drop(c.first)
}
