package comm

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/internal/knobs"
)

func silent() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// Whatever a rank publishes: there is an error, or a card of this version with
// credits that can be.
func FuzzCard(f *testing.F) {
	f.Add([]byte(`{"Version":"` + Version + `","Protocol":2,"Host":"h","Addr":"dnNobTE=","Credits":3}`))
	f.Add([]byte(`{"Version":"` + Version + `","Protocol":2,"Credits":99999999999999999999}`))
	f.Add([]byte(`{"Credits":-1}`))
	f.Add([]byte(`[[[[`))
	f.Add([]byte(nil))
	f.Add([]byte(`{"Addr":"AAAA","Credits":5,"Near":1}`))
	mine := card{Version: Version, Protocol: eager.Version, Devices: "auto", Machine: []byte{1}, Addr: []byte{2}, Credits: 1}
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := readCard[card](0, b); err == nil && mine.check(1, c, 0) == nil {
			if c.Version != Version || c.Protocol != eager.Version || c.Credits < 1 || c.Credits > 1<<20 || c.near(&mine) != (len(c.Addr) > 0 && string(c.Machine) == "\x01") {
				t.Fatalf("%+v", c)
			}
		}
		if n, err := readCard[netCard](0, b); err == nil && n.check(0) == nil {
			if n.Credits < 1 || n.Near < 1 || n.Near > 1<<20 {
				t.Fatalf("%+v", n)
			}
			for i := range deviceKinds {
				deviceKinds[i].reaches(n.Addr)
			}
		}
	})
}

// Whatever the environment says of the settings: there is an error, or all are in
// their bounds, and listing them doesn't fail.
func FuzzSettings(f *testing.F) {
	for _, v := range []string{"", "0", "-1", "16KiB", "16 KiB", "99999999999MiB", "1099511627775", "NaN", "1e3", "srq", "stream", "settings,counters"} {
		for i := range knobs.All {
			f.Add(uint8(i), v)
		}
	}
	log := silent()
	f.Fuzz(func(t *testing.T, which uint8, value string) {
		s, err := Config{}.resolve([]string{knobs.All[int(which)%len(knobs.All)].Name + "=" + value}, log)
		if err != nil {
			return
		}
		for _, n := range []setting[int]{s.MaxInline, s.EagerLimit, s.Slots, s.Unexpected} {
			if n.value < 0 || n.value > 1<<40 {
				t.Fatalf("%q: %d", value, n.value)
			}
		}
		if s.EagerLimit.value >= 1<<16 || s.Slots.value < 1 || !(s.Overcommit.value >= 1) || math.IsInf(s.Overcommit.value, 0) {
			t.Fatalf("%q: %+v", value, s)
		}
		_ = s.list()
	})
}

// pair makes two worlds of one job, which tell nobody about errors.
func pair(t testing.TB, c Config) (a, b *World) {
	t.Helper()
	s, err := c.resolve(nil, silent())
	if err != nil {
		t.Fatal(err)
	}
	job := bootstrap.NewLocal(2, "")
	var errA, errB error
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	wg.Go(func() { a, errA = newWorld(ctx, job.Job(0), s, silent()) })
	wg.Go(func() { b, errB = newWorld(ctx, job.Job(1), s, silent()) })
	wg.Wait()
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.shut(); b.shut() })
	return a, b
}

// Whatever a peer sends that parses as messages, in any order, receives posted or not:
// nothing panics or hangs, buffers hold nothing that doesn't fit, and the rank goes on
// without that peer. Bytes are cut into messages of the length that the first of each
// says.
func FuzzMessages(f *testing.F) {
	add := func(frames ...[]byte) {
		var b []byte
		for _, m := range frames {
			b = append(append(b, byte(len(m))), m...)
		}
		f.Add(b)
	}
	frame := func(kind eager.Kind, context, tag byte, seq byte, more ...byte) []byte {
		return append([]byte{byte(kind) | eager.Version<<4, 0, 0, 0, context, 0, 0, 0, tag, 0, 0, 0, seq, 0, 0, 0}, more...)
	}
	ext := func(length, name byte) []byte {
		x := make([]byte, eager.ExtensionSize)
		x[0], x[24] = length, name
		return x
	}
	add()
	add(frame(eager.Data, 1, 7, 1, []byte("payload")...), frame(eager.Data, 1, 3, 2))
	add(frame(eager.Offer, 1, 7, 1, ext(100, 1)...), frame(eager.Cancel, 0, 0, 0, ext(0, 1)...), frame(eager.Data, 1, 7, 2, 1, 2))
	add(frame(eager.Finish, 0, 0, 0, ext(0, 1)...), frame(eager.Bye, 0, 0, 0), frame(eager.Credit, 0, 0, 0))
	add(frame(eager.Data, 200, 7, 1), frame(eager.Data, 1, 7, 5))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, other := pair(t, Config{})
		ctx, cancel := context.WithTimeout(context.Background(), testLimit)
		defer cancel()
		c := w.Comm()
		if err := Send(ctx, c, []byte{1}, 1, 0); err != nil { // makes the connection
			t.Fatal(err)
		}
		if _, err := Recv(ctx, other.Comm(), []byte{0}, 0, 0); err != nil {
			t.Fatal(err)
		}
		all := make([]byte, 64)
		for i := range all {
			all[i] = 0xee
		}
		posted := []Request{
			Irecv(c, all[16:24], 1, 7), Irecv(c, all[32:40], AnySource, 7), Irecv(c, []byte(nil), AnySource, AnyTag),
			Isend(c, make([]byte, 100_000), 1, 1),
		}
		p := w.peers[1]
		w.eng.Lock()
		for messages := 0; len(b) > 0 && messages < 200; messages++ {
			n := min(int(b[0]), len(b)-1)
			m := b[1 : 1+n]
			b = b[1+n:]
			h, body, err := eager.Parse(m)
			switch {
			case err != nil:
			case h.Kind == eager.Data:
				w.Message(p.ep, h.Context, h.Tag, h.Seq, body)
			case h.Kind == eager.Credit && h.Flags&eager.FlagHello == 0: // eager's own
			default:
				w.Arrived(p.ep, h, body)
			}
		}
		w.eng.Unlock()
		for _, r := range posted {
			r.Cancel()
			_, _, _ = r.Test()
		}
		for i, v := range all {
			if inside := i >= 16 && i < 24 || i >= 32 && i < 40; !inside && v != 0xee {
				t.Fatalf("byte %d outside of all buffers was written", i)
			}
		}
		r := Isend(c, []byte{5}, 0, 9)
		got := []byte{0}
		if s, err := Recv(ctx, c, got, 0, 9); err != nil || got[0] != 5 || s.Source != 0 {
			t.Fatalf("a message to itself, afterwards: %+v, %v, %v", s, got, err)
		}
		if _, err := r.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	})
}
