package main

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// options are the command line.
type options struct {
	bench      string
	min, max   int
	iterations int // 0: the default, by size
	warmUp     int // below 0: the default
	window     int
	decimals   int
	congestion string // "": the system's
}

// large is from where on fewer iterations are enough.
const large = 8192

// maxSize bounds the buffer.
const maxSize = 1 << 30

func parse(args []string, usage io.Writer) (*options, error) {
	o := &options{min: 1, max: 4 << 20}
	f := flag.NewFlagSet("rawtcp", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&o.bench, "b", "latency", "latency or bw")
	f.Func("m", "message sizes in bytes, [MIN:]MAX", func(s string) (err error) {
		low, high, both := strings.Cut(s, ":")
		if !both {
			low, high = "1", s
		}
		if o.min, err = strconv.Atoi(low); err == nil {
			o.max, err = strconv.Atoi(high)
		}
		if err == nil && (o.min < 1 || o.max < o.min || o.max > maxSize) {
			err = fmt.Errorf("expected 1 <= MIN <= MAX <= %d", maxSize)
		}
		return err
	})
	f.IntVar(&o.iterations, "i", 0, "timed iterations (0: as the other programs)")
	f.IntVar(&o.warmUp, "x", -1, "warm-up iterations (-1: as the other programs)")
	f.IntVar(&o.window, "W", 64, "messages in a window of bw")
	f.IntVar(&o.decimals, "d", 2, "decimals")
	f.StringVar(&o.congestion, "congestion", "", "TCP congestion control of the socket (default: the system's)")
	f.Int("T", 0, "ignored: this program ends with its launcher")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("what is %q?", f.Arg(0))
	case o.bench != "latency" && o.bench != "bw":
		return nil, fmt.Errorf("-b %s: neither latency nor bw", o.bench)
	case o.iterations < 0, o.window < 1, o.decimals < 0:
		return nil, fmt.Errorf("-i, -W and -d: expected numbers from 0, 1 and 0")
	}
	return o, nil
}

// counts are the iterations at one size: the C suite's.
func (o *options) counts(size int) (warmUp, iterations int) {
	switch {
	case o.bench == "latency" && size <= large:
		warmUp, iterations = 100, 10000
	case o.bench == "latency":
		warmUp, iterations = 10, 1000
	case size <= large:
		warmUp, iterations = 10, 100
	default:
		warmUp, iterations = 2, 20
	}
	if o.iterations > 0 {
		iterations = o.iterations
	}
	if o.warmUp >= 0 {
		warmUp = o.warmUp
	}
	return warmUp, iterations
}
