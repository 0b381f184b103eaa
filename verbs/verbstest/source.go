package verbstest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// source is memory that peers may read.
type source struct {
	side *side
	mem  []byte
	mr   verbs.MR
	seed uint64
}

// newSource registers n bytes of pattern on side i.
func (r *rig) newSource(i, n int) *source {
	r.t.Helper()
	return r.register(i, make([]byte, n))
}

// register fills mem with a pattern and registers it for reading.
func (r *rig) register(i int, mem []byte) *source {
	r.t.Helper()
	r.label++
	src := &source{side: r.sides[i], mem: mem, seed: mix(r.seed, uint64(r.label))}
	fill(src.mem, src.seed)
	var err error
	if src.mr, err = src.side.dev.Register(src.mem, verbs.AccessRead); err != nil {
		r.t.Fatalf("%s: Register of %d bytes: %v", src.side.name, len(mem), err)
	}
	src.side.kept = append(src.side.kept, src.mem)
	return src
}

// at is the remote name of the source's bytes from off on.
func (src *source) at(off int) verbs.Remote {
	return verbs.Remote{Addr: src.mr.Addr() + uint64(off), Key: src.mr.Key()}
}

// guard is how many bytes around the local memory of a read are watched.
const guard = 64

// target is the local memory of one read, with guards around it.
type target struct {
	end   *end
	all   []byte
	clean []byte // what all was before the read
	skew  int
	data  []byte
	mr    verbs.MR
	id    uint64
}

// newTarget makes local memory of n bytes that begins skew bytes after a line.
func (r *rig) newTarget(e *end, n, skew int) *target {
	r.t.Helper()
	all, mr, err := e.side.buffer(n + skew + 2*guard)
	r.check(err)
	r.label++
	fill(all, mix(r.seed, uint64(r.label)))
	tg := &target{end: e, all: all, clean: bytes.Clone(all), skew: skew, mr: mr}
	tg.data = all[guard+skew : guard+skew+n : guard+skew+n]
	return tg
}

// request is the read of a source into the target.
func (tg *target) request(from verbs.Remote) verbs.SendWR {
	tg.id = readTag + uint64(len(tg.end.reads)+tg.end.open)
	return verbs.SendWR{ID: tg.id, Op: verbs.OpRead, Flags: verbs.Signaled, Data: tg.data, Remote: from}
}

// try posts the read once.
func (tg *target) try(from verbs.Remote) error {
	n, err := tg.end.postWRs([]verbs.SendWR{tg.request(from)})
	tg.end.open += n
	return err
}

// post posts the read, and takes turns while the queue is full.
func (r *rig) post(tg *target, from verbs.Remote) {
	r.t.Helper()
	r.until(fmt.Sprintf("room for a read by %v", tg.end), func() bool {
		err := tg.try(from)
		if err != nil && !errors.Is(err, verbs.ErrFull) {
			r.check(fmt.Errorf("%v: PostSend of a read: %w", tg.end, err))
		}
		return err == nil
	})
}

// read posts a read of n bytes of the source into new memory.
func (r *rig) read(e *end, src *source, off, n, skew int) *target {
	r.t.Helper()
	tg := r.newTarget(e, n, skew)
	r.post(tg, src.at(off))
	return tg
}

// done says whether the read is complete.
func (tg *target) done() bool {
	_, ok := tg.end.reads[tg.id]
	return ok
}

func (tg *target) status() verbs.Status { return tg.end.reads[tg.id] }

// wait waits for the read's completion.
func (r *rig) wait(tg *target) {
	r.t.Helper()
	r.until(fmt.Sprintf("the read of %d bytes by %v", len(tg.data), tg.end), tg.done)
}

// arrived waits for the read and checks every byte, the guards too.
func (r *rig) arrived(tg *target, src *source, off int) {
	r.t.Helper()
	r.wait(tg)
	if st := tg.status(); st != verbs.StatusOK {
		r.t.Fatalf("the read of %d bytes: %v", len(tg.data), st)
	}
	r.check(tg.guards())
	want := make([]byte, len(src.mem))
	fill(want, src.seed)
	want = want[off : off+len(tg.data)]
	if at := firstDifference(tg.data, want); at >= 0 {
		r.t.Fatalf("a read of %d bytes at offset %d: byte %d is %#x, want %#x", len(want), off, at, tg.data[at], want[at])
	}
}

// guards checks that nothing around the local memory was written.
func (tg *target) guards() error {
	begin := guard + tg.skew
	end := begin + len(tg.data)
	if !bytes.Equal(tg.all[:begin], tg.clean[:begin]) || !bytes.Equal(tg.all[end:], tg.clean[end:]) {
		return fmt.Errorf("%v: the read of %d bytes wrote outside its memory", tg.end, len(tg.data))
	}
	return nil
}

// untouched checks that the local memory was not written at all.
func (tg *target) untouched() error {
	if at := firstDifference(tg.all, tg.clean); at >= 0 {
		return fmt.Errorf("%v: a read that failed wrote its memory, at %d of %d", tg.end, at-guard, len(tg.data))
	}
	return nil
}

func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}
