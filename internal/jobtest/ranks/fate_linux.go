package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// Tags of fate.
const (
	tagPid = iota + 1
	tagNever
	tagNeighbour
	tagSmall
	tagEnd
	tagOffered
)

const offered = 100_000 // elements of the message that a victim has offered

// fate: the last of three ranks meets the state that the first argument says, and
// the two others then make the call that the second one says, with it. They print
// how the call ended, and show that they still reach each other.
func fate(ctx context.Context, c *comm.Comm, args []string) error {
	state, call := args[0], args[1]
	const victim = 2
	if c.Rank() == victim {
		return meet(ctx, c, state, call)
	}
	pid := []int{0}
	if state != "killed before contact" && state != "finished before contact" {
		if _, err := comm.Recv(ctx, c, pid, victim, tagPid); err != nil {
			return err
		}
	}
	if state == "stopped" {
		if err := untilStopped(ctx, pid[0]); err != nil {
			return err
		}
	}
	short, cancel := ctx, context.CancelFunc(func() {})
	if state == "stopped" {
		short, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
	}
	defer cancel()
	fmt.Println(outcome(makeCall(short, c, victim, call)))
	other := 1 - c.Rank()
	var got [1]int
	if _, err := comm.Sendrecv(ctx, c, []int{c.Rank()}, other, tagEnd, got[:], other, tagEnd); err != nil || got[0] != other {
		return fmt.Errorf("the other rank: %v, %w", got, err)
	}
	if state != "stopped" {
		return nil
	}
	// It goes on as if nothing had been.
	if c.Rank() == 0 {
		if err := syscall.Kill(pid[0], syscall.SIGCONT); err != nil {
			return err
		}
	}
	if call == "recv of an offer" && short.Err() != nil { // nothing was received
		if err := recvOffered(ctx, c, victim); err != nil {
			return err
		}
	}
	if _, err := comm.Recv(ctx, c, got[:], victim, tagEnd); err != nil || got[0] != victim {
		return fmt.Errorf("after it went on: %v, %w", got, err)
	}
	return nil
}

// meet is what the victim does.
func meet(ctx context.Context, c *comm.Comm, state, call string) error {
	if state != "killed before contact" && state != "finished before contact" {
		for r := range 2 {
			if err := comm.Send(ctx, c, []int{os.Getpid()}, r, tagPid); err != nil {
				return err
			}
		}
	}
	switch state {
	case "killed", "killed before contact":
		return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), errors.New("still here"))
	case "finished", "finished before contact":
		return nil
	}
	large := make([]int, offered)
	for i := range large {
		large[i] = i
	}
	var sends []comm.Request
	if call == "recv of an offer" {
		for r := range 2 {
			sends = append(sends, comm.Isend(c, large, r, tagOffered))
		}
	}
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	select {
	case <-cont: // this goroutine may run for a moment after the signal
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := comm.WaitAll(ctx, sends...); err != nil {
		return err
	}
	for r := range 2 {
		if call == "send" { // it had left before
			var got [1]int
			if _, err := comm.Recv(ctx, c, got[:], r, tagSmall); err != nil || got[0] != r {
				return fmt.Errorf("what was sent while it was stopped: %v, %w", got, err)
			}
		}
		if err := comm.Send(ctx, c, []int{2}, r, tagEnd); err != nil {
			return err
		}
	}
	return nil
}

func makeCall(ctx context.Context, c *comm.Comm, victim int, call string) error {
	got := []int{0}
	large := make([]int, 100_000)
	other := 1 - c.Rank()
	switch call {
	case "send":
		// A short message may leave before the end is known.
		err := comm.Send(ctx, c, []int{c.Rank()}, victim, tagSmall)
		for end := time.Now().Add(time.Second); err == nil && ctx.Err() == nil && time.Now().Before(end); {
			if _, _, err = c.Iprobe(victim, tagNever); err != nil {
				err = comm.Send(ctx, c, []int{c.Rank()}, victim, tagSmall)
			}
		}
		return err
	case "large send":
		return comm.Send(ctx, c, large, victim, tagNever)
	case "large isend":
		return waitOrCancel(ctx, comm.Isend(c, large, victim, tagNever))
	case "recv":
		_, err := comm.Recv(ctx, c, got, victim, tagNever)
		return err
	case "recv of an offer":
		return recvOffered(ctx, c, victim)
	case "irecv":
		return waitOrCancel(ctx, comm.Irecv(c, got, victim, tagNever))
	case "probe":
		_, err := c.Probe(ctx, victim, tagNever)
		return err
	case "any source":
		// A death is heard once; then, and in any other case at once, the
		// neighbour's message comes.
		if err := comm.Send(ctx, c, []int{1}, other, tagNeighbour); err != nil {
			return err
		}
		_, err := comm.Recv(ctx, c, got, comm.AnySource, tagNeighbour)
		if errors.Is(err, comm.ErrDied) {
			_, err = comm.Recv(ctx, c, got, comm.AnySource, tagNeighbour)
		}
		return err
	case "any source, of nothing":
		_, err := comm.Recv(ctx, c, got, comm.AnySource, tagNever)
		return err
	}
	return fmt.Errorf("no such call: %s", call)
}

// waitOrCancel waits for a request, and cancels it if ctx ends first: at once, and in
// time.
func waitOrCancel(ctx context.Context, r comm.Request) error {
	_, err := r.Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		r.Cancel()
		if _, err := r.Wait(context.Background()); !errors.Is(err, comm.ErrCanceled) {
			return fmt.Errorf("canceled: %w", err)
		}
	}
	return err
}

func recvOffered(ctx context.Context, c *comm.Comm, from int) error {
	got := make([]int, offered)
	s, err := comm.Recv(ctx, c, got, from, tagOffered)
	if err != nil {
		return err
	}
	for i, v := range got {
		if v != i {
			return fmt.Errorf("%+v: element %d is %d", s, i, v)
		}
	}
	return nil
}

func outcome(err error) string {
	var p *comm.PeerError
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, context.DeadlineExceeded):
		return "in time"
	case !errors.As(err, &p) || p.Rank != 2:
		return err.Error()
	case errors.Is(err, comm.ErrFinished):
		return "finished"
	case errors.Is(err, comm.ErrDied), errors.Is(err, comm.ErrUnreachable):
		return "died"
	}
	return err.Error()
}

// untilStopped waits until a process is stopped.
func untilStopped(ctx context.Context, pid int) error {
	for ctx.Err() == nil {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return err
		}
		for i := len(b) - 1; i > 0; i-- {
			if b[i] == ')' {
				if b[i+2] == 'T' {
					return nil
				}
				break
			}
		}
		time.Sleep(time.Millisecond)
	}
	return ctx.Err()
}
