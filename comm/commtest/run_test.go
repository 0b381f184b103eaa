package commtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/commtest"
)

// sum adds up the ranks by messages of many sizes, around a ring.
func sum(ctx context.Context, c *comm.Comm) error {
	right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	for _, n := range []int{1, 10, 1000, 2000, 50_000} { // inline, eager, rendezvous
		in, out := make([]int64, n), make([]int64, n)
		total := int64(c.Rank())
		out[n-1] = total
		for range c.Size() - 1 {
			if _, err := comm.Sendrecv(ctx, c, out, right, n, in, left, n); err != nil {
				return err
			}
			total += in[n-1]
			copy(out, in)
		}
		if want := int64(c.Size()*(c.Size()-1)) / 2; total != want {
			return fmt.Errorf("%d numbers: the ranks add up to %d, want %d", n, total, want)
		}
	}
	return c.Barrier(ctx)
}

func TestRun(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { commtest.Run(t, n, sum) })
	}
}

func TestEverywhere(t *testing.T) { commtest.Everywhere(t, 3, sum) }

func TestDevice(t *testing.T) {
	for _, device := range comm.Devices() {
		commtest.Run(t, 2, func(_ context.Context, c *comm.Comm) error {
			if got := c.World().Info().Device; got != device {
				return fmt.Errorf("the ranks talk over %s, want %s", got, device)
			}
			return nil
		}, commtest.Device(device))
	}
}

func TestConfig(t *testing.T) {
	program := func(ctx context.Context, c *comm.Comm) error {
		for _, s := range c.World().Info().Settings {
			if s.Name == "VERBENA_EAGER_LIMIT" && (s.Value != "333" || s.Origin != "program") {
				return fmt.Errorf("%+v", s)
			}
		}
		return sum(ctx, c)
	}
	commtest.Everywhere(t, 2, program, commtest.Config(comm.Config{EagerLimit: 333, Recv: "peer"}))
}

// Element types are compared, in each way of running.
func TestChecksTypes(t *testing.T) {
	commtest.Everywhere(t, 2, func(ctx context.Context, c *comm.Comm) error {
		if c.Rank() == 1 {
			return comm.Send(ctx, c, []float32{1}, 0, 0)
		}
		if _, err := comm.Recv(ctx, c, make([]int32, 1), 1, 0); !errors.Is(err, comm.ErrType) {
			return fmt.Errorf("a float32 received as an int32: %w", err)
		}
		return nil
	})
}

// In a bubble an hour of sleep takes no time, and a rank that waits lets it pass.
func TestBubble(t *testing.T) {
	start := time.Now()
	for _, n := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			before := time.Now()
			commtest.Run(t, n, func(ctx context.Context, c *comm.Comm) error {
				if err := sum(ctx, c); err != nil {
					return err
				}
				if d := time.Since(before); d != 0 {
					return fmt.Errorf("messages took %v", d)
				}
				if c.Rank() == 0 {
					time.Sleep(time.Hour)
				}
				if err := sum(ctx, c); err != nil {
					return err
				}
				if d := time.Since(before); d < time.Hour || d > time.Hour+time.Second {
					return fmt.Errorf("an hour and messages took %v", d)
				}
				return nil
			}, commtest.Limit(2*time.Hour))
		})
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("it took %v", d)
	}
}

// A receive with a deadline ends when the bubble's time has come.
func TestBubbleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) error {
			if c.Rank() == 1 {
				time.Sleep(time.Minute)
				return comm.Send(ctx, c, []byte{1}, 0, 0)
			}
			before := time.Now()
			short, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			if _, err := comm.Recv(short, c, make([]byte, 1), 1, 0); err == nil || time.Since(before) != 10*time.Second {
				return fmt.Errorf("%v after %v", err, time.Since(before))
			}
			_, err := comm.Recv(ctx, c, make([]byte, 1), 1, 0)
			if err == nil && time.Since(before) != time.Minute {
				return fmt.Errorf("after %v", time.Since(before))
			}
			return err
		})
	})
}

// synctest.Wait sees ranks that wait for messages.
func TestBubbleWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Int32
		commtest.Run(t, 3, func(ctx context.Context, c *comm.Comm) error {
			if c.Rank() != 0 {
				_, err := comm.Recv(ctx, c, make([]byte, 1), 0, 0)
				done.Add(1)
				return err
			}
			synctest.Wait()
			if n := done.Load(); n != 0 {
				return fmt.Errorf("%d ranks didn't wait", n)
			}
			for r := 1; r < 3; r++ {
				if err := comm.Send(ctx, c, []byte{1}, r, 0); err != nil {
					return err
				}
			}
			synctest.Wait()
			if n := done.Load(); n != 2 {
				return fmt.Errorf("%d ranks have heard, want 2", n)
			}
			return nil
		})
	})
}

// A process runs the call of Processes that it was started for, and nothing of what
// comes before it. It inherits the environment.
func TestProcessesAmongOthers(t *testing.T) {
	const turn = "COMMTEST_TEST_TURN"
	child := os.Getenv("COMMTEST_CALL") != ""
	for i := range 3 {
		commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) error {
			if child {
				return fmt.Errorf("ranks among ranks")
			}
			return sum(ctx, c)
		})
		if !child {
			t.Setenv(turn, fmt.Sprint(i))
		}
		commtest.Processes(t, 2, func(ctx context.Context, c *comm.Comm) error {
			if os.Getenv(turn) != fmt.Sprint(i) {
				return fmt.Errorf("this is call %d, and should be %s", i, os.Getenv(turn))
			}
			return sum(ctx, c)
		})
	}
}
