package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
)

func place() (rank, size int) {
	rank, _ = strconv.Atoi(os.Getenv("PMI_RANK"))
	size, _ = strconv.Atoi(os.Getenv("PMI_SIZE"))
	return rank, size
}

// asRank is what the ranks of the tests do.
func asRank(as string) int {
	rank, _ := place()
	as, arg, _ := strings.Cut(as, ":")
	switch as {
	case "signals":
		return showSignals(arg)
	case "lines":
		return writeLines(rank, arg)
	case "argv": // and the variables A to D
		var vars []string
		for _, name := range []string{"A", "B", "C", "D"} {
			vars = append(vars, name+"="+os.Getenv(name))
		}
		fmt.Printf("%d %q %q\n", rank, os.Args[1:], vars)
		return 0
	case "sum": // of standard input; this rank waits first, until it is told
		if arg == strconv.Itoa(rank) {
			told := make(chan os.Signal, 1)
			signal.Notify(told, syscall.SIGUSR1)
			fmt.Println("ready")
			<-told
		}
		h := sha256.New()
		n, err := io.Copy(h, bufio.NewReaderSize(os.Stdin, 1000))
		fmt.Printf("%d %d %x %v\n", rank, n, h.Sum(nil), err)
		return 0
	case "death":
		return deathOrder(rank, arg, func() {})
	case "spin": // and give up, in case nobody ends this
		attr, err := unix.SchedGetAttr(0, 0)
		if err != nil {
			return 9
		}
		fmt.Println("priority", attr.Priority)
		for start := time.Now(); time.Since(start) < 2*time.Second; {
		}
		return 8
	case "panic", "nil", "absent": // this rank, while others wait
		if arg == strconv.Itoa(rank) {
			return fallOver(as)
		}
		as = "unfinished"
	case "exact": // say it, and no newline
		fmt.Print(arg)
		return 0
	case "long":
		n, _ := strconv.Atoi(arg)
		_, err := os.Stdout.Write(append(bytes.Repeat([]byte{byte('a' + rank)}, n), '\n'))
		if err != nil {
			return 9
		}
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	j, err := bootstrap.FromEnv(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	code, err := joined(ctx, j, as, arg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 98
	}
	return code
}

// fallOver is an end without a word to the launcher.
func fallOver(how string) int {
	switch how {
	case "panic":
		panic("all is lost")
	case "nil":
		var p *int
		return *p
	}
	return 0
}

// joined is for ranks that speak to their launcher.
func joined(ctx context.Context, j *bootstrap.Job, as, arg string) (int, error) {
	mine := arg == "" || strconv.Itoa(j.Rank) == arg
	switch as {
	case "exchange":
		for i := range 5 {
			all, err := j.Exchange(ctx, "addr", bytes.Repeat([]byte{byte(j.Rank), byte(i)}, 200*j.Rank))
			if err != nil {
				return 0, err
			}
			for r, v := range all {
				if !bytes.Equal(v, bytes.Repeat([]byte{byte(r), byte(i)}, 200*r)) {
					return 0, fmt.Errorf("rank %d: wrong value of rank %d", j.Rank, r)
				}
			}
		}
		fmt.Printf("%d of %d\n", j.Rank, j.Size)
	case "abort death":
		return deathOrder(j.Rank, arg, func() { j.Abort(4, "a peer died") }), nil
	case "abort lines": // after all have written theirs
		if code := writeLines(j.Rank, "2000"); code != 0 {
			return code, nil
		}
		if err := j.Barrier(ctx); err != nil {
			return 0, err
		}
		if mine {
			j.Abort(7, "enough")
			return 9, nil
		}
		select {} // the launcher ends this
	case "abort":
		if err := j.Barrier(ctx); err != nil {
			return 0, err
		}
		if mine {
			fmt.Println("about to abort")
			j.Abort(7, "no more = 100% useful\nreasons")
			return 9, nil
		}
		return 0, j.Barrier(ctx) // for ever
	case "unfinished":
		if mine {
			return 0, nil
		}
		return 0, j.Barrier(ctx)
	case "finished":
		if mine {
			break
		}
		if err := j.Barrier(ctx); err == nil {
			return 0, errors.New("met a rank that has finished")
		}
		select {} // the launcher ends this
	}
	return 0, j.Close(ctx)
}

// showSignals says which signals come. "quiet" is a rank that ignores them.
func showSignals(arg string) int {
	got := make(chan os.Signal, 16)
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	fmt.Println("ready")
	for {
		select {
		case s := <-got:
			fmt.Println("got", s)
			if arg != "quiet" {
				return 0
			}
		case <-time.After(limit):
			return 9
		}
	}
}

// writeLines writes n lines of many lengths to both streams.
func writeLines(rank int, arg string) int {
	n, _ := strconv.Atoi(arg)
	w := bufio.NewWriterSize(os.Stdout, 777) // writes end anywhere
	for i := range n {
		fmt.Fprintf(w, "<%d %d %s>\n", rank, i, strings.Repeat("x", (i*7+rank)%120))
		if i%10 == 0 {
			fmt.Fprintf(os.Stderr, "<e%d %d %s>\n", rank, i/10, strings.Repeat("y", i%90))
		}
	}
	if w.Flush() != nil {
		return 9
	}
	return 0
}

// deathOrder: rank 1 is killed, and rank 0 exits as soon as it sees that, or
// calls abort.
func deathOrder(rank int, name string, saw func()) int {
	if rank == 0 {
		l, err := net.Listen("unix", "@"+name)
		if err != nil {
			return 97
		}
		c, err := l.Accept()
		if err != nil {
			return 97
		}
		_, _ = c.Read(make([]byte, 1))
		saw()
		return 1
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := net.Dial("unix", "@"+name); err == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	return 96
}
