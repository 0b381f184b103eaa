package launcher

import "golang.org/x/sys/unix"

// binder moves the calling thread, which stays locked, to the core that the
// next child is to have.
type binder struct {
	home  unix.CPUSet
	cores []int // allowed, ascending
	bind  bool
	own   bool // a core for each
}

func newBinder(mode Bind, ranks int) (*binder, error) {
	b := &binder{}
	if err := unix.SchedGetaffinity(0, &b.home); err != nil {
		return nil, err
	}
	for c := 0; len(b.cores) < b.home.Count(); c++ {
		if b.home.IsSet(c) {
			b.cores = append(b.cores, c)
		}
	}
	fits := ranks <= len(b.cores)
	b.bind = mode == BindCore || mode == BindAuto && fits
	b.own = b.bind && fits
	return b, nil
}

// move returns the core, or -1.
func (b *binder) move(rank int) (int, error) {
	if !b.bind {
		return -1, nil
	}
	core := b.cores[rank%len(b.cores)]
	var set unix.CPUSet
	set.Set(core)
	return core, unix.SchedSetaffinity(0, &set)
}

// back moves the thread back.
func (b *binder) back() error {
	if !b.bind {
		return nil
	}
	return unix.SchedSetaffinity(0, &b.home)
}
