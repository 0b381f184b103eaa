package harness

import "fmt"

// prepare writes what iteration i sends into the send buffers, and poisons the
// receive buffers.
func (r *run) prepare(size, i int) {
	if r.all != nil {
		r.prepareAll(size, i)
		return
	}
	if r.send != nil {
		for k := range r.send.buffers {
			fill(r.send.messages[k], seed(size, i, r.job.rank(), k), 0)
		}
	}
	if r.recv != nil {
		for k := range r.recv.buffers {
			poison(r.recv.messages[k], seed(size, i, r.place.peer, k))
		}
	}
}

// check says what is wrong with the buffers after iteration i, if anything.
func (r *run) check(size, i int) error {
	if r.all != nil {
		return r.checkAll(size, i)
	}
	check := func(w *window, name string, sender int) error {
		if w == nil {
			return nil
		}
		for k := range w.buffers {
			if err := w.buffers[k].checkGuards(); err != nil {
				return fmt.Errorf("%s buffer %d: %w", name, k, err)
			}
			mem, s := w.messages[k], seed(size, i, sender, k)
			if at := mismatch(mem, s); at >= 0 {
				return fmt.Errorf("%s buffer %d: byte %d is %#02x", name, k, at, mem[at])
			}
		}
		return nil
	}
	err := check(r.send, "send", r.job.rank())
	if err == nil {
		err = check(r.recv, "receive", r.place.peer)
	}
	if err != nil {
		return fmt.Errorf("size %d, iteration %d: %w", size, i, err)
	}
	return nil
}
