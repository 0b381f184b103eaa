package comm

import (
	"context"
	"strings"
	"testing"

	"github.com/verbena-mpi/verbena/internal/control"
	"github.com/verbena-mpi/verbena/internal/gostack"
)

// What the stacks of a process say of whether it can go on by itself.
func TestFindWaits(t *testing.T) {
	const (
		recv = "goroutine 1 [IO wait]:\n" + waitOf + "(0xc1, {0x1, 0x2}, 0xc7?)\n\t/v/progress/waiter.go:45 +0x1\n" +
			module + "comm.Recv[...](...)\n\t/v/comm/recv.go:25\nmain.main()\n\t/j/main.go:9 +0x1\n\n"
		// A collective: the program's line is the one that calls it.
		coll = "goroutine 1 [IO wait]:\n" + waitOf + "(0xc1, {0x1, 0x2}, 0xc7?)\n\t/v/progress/waiter.go:45 +0x1\n" +
			module + "comm.Recv[...](...)\n\t/v/comm/recv.go:25\n" +
			module + "comm/coll.recv[...](0xc1)\n\t/v/comm/coll/step.go:50 +0x1\n" +
			module + "comm/coll.Allgather[...].func1(0xc1)\n\t/v/comm/coll/allgather.go:50 +0x1\n" +
			module + "comm/coll.Allgather[...](0xc1)\n\t/v/comm/coll/allgather.go:21 +0x1\nmain.main()\n\t/j/main.go:9 +0x1\n\n"
		own     = "goroutine 3 [IO wait]:\nbufio.(*Reader).ReadSlice(0xc1)\n\t/go/src/bufio/bufio.go:9 +0x1\n" + module + "comm.(*World).listen(0xc1)\n\t/v/comm/control.go:9 +0x1\n\n"
		worker  = "goroutine 4 [STATE]:\nsync.x(...)\n\t/go/src/sync/x.go:9\nmain.work(0xc1)\n\t/j/main.go:20 +0x1\ncreated by main.main in goroutine 1\n\t/j/main.go:5 +0x1\n\n"
		library = "goroutine 5 [STATE]:\nexample.org/x.run(0xc1)\n\t/x/x.go:20 +0x1\n\n"
		server  = "goroutine 6 [IO wait]:\ninternal/poll.x(0xc1)\n\t/go/src/x.go:2 +0x1\nnet/http.(*Server).Serve(0xc1)\n\t/go/src/http.go:2 +0x1\n\n"
		signals = "goroutine 7 [syscall]:\nos/signal.signal_recv()\n\t/go/src/x.go:2 +0x1\nos/signal.loop()\n\t/go/src/y.go:2 +0x1\n\n"
	)
	for _, c := range []struct {
		text  string
		stuck bool
	}{
		{recv, true},
		{coll, true},
		{recv + own + signals, true},
		{recv + server, false},
		{recv + strings.Replace(worker, "STATE", "sync.WaitGroup.Wait", 1), true},
		{recv + strings.Replace(worker, "STATE", "sync.Mutex.Lock, 3 minutes", 1), true},
		{recv + strings.Replace(worker, "STATE", "running", 1), false},
		{recv + strings.Replace(worker, "STATE", "sleep", 1), false},
		{recv + strings.Replace(worker, "STATE", "chan receive", 1), false},
		{recv + strings.Replace(library, "STATE", "IO wait", 1), false},
	} {
		w := findWaits(gostack.Parse(c.text))
		if w.stuck != c.stuck || w.places["0xc7"] != "/j/main.go:9" || w.main != (control.State{Doing: "IO wait", Place: "/j/main.go:9"}) {
			t.Errorf("%s\n%+v", c.text, w)
		}
	}
}

// An answer lists what is pending, and nothing else.
func TestAnswer(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 1 {
			if _, err := Recv(ctx, c, []byte{0}, 0, 1); err != nil {
				return err
			}
			return Send(ctx, c, make([]byte, 4), 0, 7)
		}
		done := Irecv(c, make([]byte, 3), ProcNull, 0) // complete, and not waited for
		q := Irecv(c, make([]byte, 5), AnySource, 7)
		all := c.World().answer(3)
		want := control.Message{Kind: control.Pending, ID: 3, Op: control.Op{Call: "Irecv", Peer: control.Any, Tag: 7, Bytes: 5}}
		if len(all) != 2 || all[0] != want || all[1].Kind != control.Report || all[1].ID != 3 || all[1].State.Blocked {
			t.Errorf("%+v", all)
		}
		if err := Send(ctx, c, []byte{1}, 1, 1); err != nil {
			return err
		}
		return WaitAll(ctx, done, q)
	})
}

// An answer names ranks as the world does, whatever communicator they are waited for
// on: the launcher knows no other ranks.
func TestAnswerInPart(t *testing.T) {
	run(t, 3, Config{}, func(ctx context.Context, c *Comm) error {
		d, err := c.Split(ctx, c.Rank()/2, -c.Rank()) // 1 and 0; 2
		if err != nil || c.Rank() == 2 {
			return err
		}
		if c.Rank() == 1 {
			if _, err := Recv(ctx, c, []byte{0}, 0, 1); err != nil {
				return err
			}
			return Send(ctx, d, make([]byte, 4), 1, 7)
		}
		q := Irecv(d, make([]byte, 5), 0, 7)
		want := control.Message{Kind: control.Pending, ID: 3, Op: control.Op{Call: "Irecv", Peer: 1, Tag: 7, Bytes: 5}}
		if all := c.World().answer(3); len(all) != 2 || all[0] != want {
			t.Errorf("%+v", all)
		}
		if err := Send(ctx, c, []byte{1}, 1, 1); err != nil {
			return err
		}
		return WaitAll(ctx, q)
	})
}
