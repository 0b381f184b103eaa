// Ranks is the program of the job tests. Each mode is one thing that ranks do:
//
//	verbrun -n 8 ranks pingpong -n 1000
//
// Every rank first says "pid RANK PID" on its standard output.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/verbena-mpi/verbena/comm"
)

// modes by name. Each gets the arguments that follow its name.
var modes = map[string]func(args []string){
	"pingpong": program(pingpong),
	"blocked":  program(blocked),
	"load":     program(load),
	"overlap":  program(overlap),
	"end":      end,
	"settings": program(settings),
	"crash":    program(crash),
	"recover":  program(recovered),
	"child":    program(child),
	"survive":  program(survive),
	"fate":     program(fate),
	"deadlock": program(deadlock),
	"exchange": program(exchange),
}

func main() {
	mode := func([]string) {
		fmt.Fprintln(os.Stderr, "usage: ranks MODE [flags]")
		os.Exit(64)
	}
	var args []string
	if len(os.Args) > 1 && modes[os.Args[1]] != nil {
		mode, args = modes[os.Args[1]], os.Args[2:]
	}
	rank := os.Getenv("PMI_RANK")
	if rank == "" {
		rank = "0"
	}
	fmt.Printf("pid %s %d\n", rank, os.Getpid())
	mode(args)
}

// program is a mode whose ranks run f.
func program(f func(context.Context, *comm.Comm, []string) error) func([]string) {
	return func(args []string) {
		comm.Main(func(ctx context.Context, c *comm.Comm) error { return f(ctx, c, args) })
	}
}

// parse reads a mode's flags, which define sets up.
func parse(args []string, define func(*flag.FlagSet)) error {
	f := flag.NewFlagSet("ranks", flag.ContinueOnError)
	define(f)
	return f.Parse(args)
}
