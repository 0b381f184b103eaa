package commtest_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/commtest"
)

// ring is a program. Its main function is: comm.Main(ring).
func ring(ctx context.Context, c *comm.Comm) error {
	right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	got := make([]int32, 1)
	if _, err := comm.Sendrecv(ctx, c, []int32{int32(c.Rank())}, right, 0, got, left, 0); err != nil {
		return err
	}
	if got[0] != int32(left) {
		return fmt.Errorf("heard %d from rank %d", got[0], left)
	}
	return nil
}

// A program is tested as it is, with as many ranks as the test wants.
func ExampleRun() {
	var t test // in func TestRing(t *testing.T) the test's own
	for n := 1; n <= 4; n++ {
		commtest.Run(t, n, ring)
		fmt.Println(n, "ranks pass")
	}
	// Output:
	// 1 ranks pass
	// 2 ranks pass
	// 3 ranks pass
	// 4 ranks pass
}

// What the test has around it, the ranks can use: here a slice, of which each rank
// fills its own element.
func ExampleRun_results() {
	var t test
	heard := make([]string, 3)
	commtest.Run(t, 3, func(ctx context.Context, c *comm.Comm) error {
		if c.Rank() == 0 {
			for r := 1; r < c.Size(); r++ {
				if err := comm.Send(ctx, c, []byte("hello"), r, 0); err != nil {
					return err
				}
			}
			return nil
		}
		text, _, err := comm.RecvAppend[byte](ctx, c, nil, 0, 0)
		heard[c.Rank()] = string(text)
		return err
	})
	fmt.Printf("%q\n", heard)
	// Output: ["" "hello" "hello"]
}

// test stands in for the *testing.T that a test function gets.
type test struct{ testing.TB }

func (test) Helper()                           {}
func (test) Context() context.Context          { return context.Background() }
func (test) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (test) Failed() bool                      { return false }
func (test) Skipped() bool                     { return false }
func (test) FailNow()                          { runtime.Goexit() }
