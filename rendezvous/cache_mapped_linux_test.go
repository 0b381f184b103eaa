package rendezvous

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

func mapped(t *testing.T, n int) []byte {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	return mem
}

// Nobody would hear of the end of mapped memory: it is registered for each use.
func TestCacheMapped(t *testing.T) {
	c, _ := newTestCache(t, 10, 1<<20)
	mem := mapped(t, 10_000)
	a, b := get(t, c, mem, verbs.AccessRead), get(t, c, mem[5:], verbs.AccessRead)
	expect(t, c, 0, 2, 0, 2)
	put(t, a, b)
	put(t, get(t, c, mem, verbs.AccessRead))
	expect(t, c, 0, 3, 0, 0)
	if len(c.kept[verbs.AccessRead]) != 0 || c.bytes != 0 {
		t.Error("it is kept")
	}
}

// Mapped memory is sent and received into.
func TestMappedTransfer(t *testing.T) {
	r := newRig(t, 2, sim.Config{})
	a, b := r.ranks[0], r.ranks[1]
	from, to := mapped(t, 50_000), mapped(t, 50_000)
	want := pattern(1, 50_000)
	copy(from, want)
	s := a.offer(1, from)
	p := &pulling{all: to}
	p.Owner = p
	o := b.takeOffer()
	b.do(func() { b.layer.Pull(&p.Pull, b.eng, b.eps[0], o.Extension, to) })
	r.until("the ends", func() bool { return len(s.told) > 0 && len(p.told) > 0 })
	if s.told[0] != nil || p.told[0] != nil || string(p.then) != string(want) {
		t.Errorf("told %v and %v, or wrong bytes", s.told, p.told)
	}
	r.clean()
}
