package harness

// window is the buffers of one iteration's messages.
type window struct {
	buffers  []buffer // one, or one per message
	messages [][]byte // one per message
	blocks   int      // that a collective's buffer has, of the message size
}

func newWindow(alloc func(int) []byte, o *Options, most int) *window {
	n := 1
	if o.Multiple {
		n = o.Window
	}
	w := &window{buffers: make([]buffer, n), messages: make([][]byte, o.Window)}
	for i := range w.buffers {
		w.buffers[i] = newBuffer(alloc, most)
		fill(w.buffers[i].raw, seed(most, 0, 0, i), 0) // no page fault is left for the timed loop
	}
	return w
}

// resize sets the window to messages of size bytes. A nil window is that of
// the side that has none.
func (w *window) resize(size int) {
	if w == nil {
		return
	}
	for i := range w.messages {
		b := &w.buffers[i%len(w.buffers)]
		w.messages[i] = b.message(size * max(w.blocks, 1))
	}
}

// list returns the messages' memory.
func (w *window) list() [][]byte {
	if w == nil {
		return nil
	}
	return w.messages
}

func (w *window) free(free func([]byte)) {
	if w == nil {
		return
	}
	for i := range w.buffers {
		free(w.buffers[i].raw)
	}
}

// allocate makes the buffers for messages of up to most bytes.
func (r *run) allocate(most int) {
	o := &r.options
	alloc := func(n int) []byte { return make([]byte, n) }
	if o.Alloc {
		alloc = r.job.alloc
	}
	if r.all != nil {
		r.allocateAll(alloc, most)
		return
	}
	if r.place.sends {
		r.send = newWindow(alloc, o, most)
	}
	if r.place.receives {
		r.recv = newWindow(alloc, o, most)
		if o.Validate && o.ValidateWarmUp > 0 {
			r.spare = newWindow(alloc, o, most)
		}
	}
}

// release gives up the buffers.
func (r *run) release() {
	free := func([]byte) {}
	if r.options.Alloc {
		free = r.job.free
	}
	for _, w := range []*window{r.send, r.recv, r.spare} {
		w.free(free)
	}
	r.send, r.recv, r.spare = nil, nil, nil
}
