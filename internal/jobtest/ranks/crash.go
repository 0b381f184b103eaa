package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/verbena-mpi/verbena/comm"
)

//go:noinline
func use(seven) {}

// writeTogether writes a map from several goroutines, until the runtime notices.
func writeTogether() {
	m := map[int]int{}
	for range 4 {
		go func() {
			for i := 0; ; i++ {
				m[i%100] = i
			}
		}()
	}
	select {}
}

// crash: all ranks run into the same mistake.
func crash(ctx context.Context, c *comm.Comm, _ []string) error {
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	var s []int
	s[c.Rank()] = 1
	return nil
}

// recovered: what a program recovers from is no crash.
func recovered(ctx context.Context, c *comm.Comm, _ []string) error {
	if err := dereference(); err == nil {
		return errors.New("a nil dereference went by")
	}
	return c.Barrier(ctx)
}

func dereference() (err error) {
	defer func() { err, _ = recover().(error) }()
	var n *seven
	use(*n)
	return nil
}

// child: a rank starts this program, which is no rank then, and has nothing of
// its parent's but the streams.
func child(ctx context.Context, c *comm.Comm, args []string) error {
	if len(args) > 0 {
		fmt.Printf("child: a world of %d, control %q, files %q\n", c.Size(), os.Getenv("VERBENA_CONTROL"), inherited)
		return nil
	}
	cmd := exec.CommandContext(ctx, os.Args[0], "child", "as child")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	return c.Barrier(ctx)
}

// inherited are the sockets and the memory files that this process began with.
var inherited = func() (found []string) {
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range fds {
		to, _ := os.Readlink("/proc/self/fd/" + fd.Name())
		if strings.HasPrefix(to, "socket:") || strings.HasPrefix(to, "/memfd:") {
			found = append(found, to)
		}
	}
	return found
}()
