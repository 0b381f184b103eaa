// Probe prints how long a cache line takes from one CPU to another, one way,
// in nanoseconds. About 30 ns mean neighbouring cores; about 160 mean cores
// that share no cache.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/verbena-mpi/verbena/osu/peers/cacheline"
)

func main() {
	a := flag.Int("a", 0, "the one CPU")
	b := flag.Int("b", 1, "the other CPU")
	flag.Parse()
	ns, err := cacheline.OneWay(*a, *b)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%.1f\n", ns)
}
