package harness

import (
	"slices"
	"strconv"
	"strings"
)

// Parse reads a benchmark's command line, without the program's name.
func (s *Spec) Parse(args []string) (Options, error) {
	o := defaults(s.Metric)
	if err := getopt(&o, s.options(), args); err != nil {
		return Options{}, err
	}
	if o.Vary {
		if len(o.Percentiles) > 0 {
			return Options{}, &usageError{"Invalid option [-z does not go with -V]"}
		}
		o.Window = varied[len(varied)-1]
	}
	if o.Multiple && o.Max > maxBytes/o.Window {
		return Options{}, &usageError{"Invalid message size [the window's buffers do not fit into memory]"}
	}
	return o, nil
}

// options returns the options that the benchmark has, in the order of its
// usage text. Letters and names are the C suite's, except for -a and for those without a letter.
func (s *Spec) options() []option {
	table := []option{
		{
			short: 'h', long: "help", help: "print this help",
			set: func(o *Options, _ string) bool { o.Help = true; return true },
		},
		{
			short: 'v', long: "version", help: "print the version",
			set: func(o *Options, _ string) bool { o.Version = true; return true },
		},
		{
			short: 'm', long: "message-size", takes: required, value: "[MIN:]MAX", what: "message size",
			help: "message sizes in bytes: doubling from MIN (default 1)\nto MAX (default " + strconv.Itoa(defaults(s.Metric).Max) + "); 'MIN:' alone keeps MAX",
			set:  setSizes,
		},
		{
			short: 'i', long: "iterations", takes: required, value: "N", what: "number of iterations",
			help: "timed iterations per size (default " + s.counts(func(o *Options) Counts { return o.Iterations }) + ")",
			set: func(o *Options, v string) bool {
				n, ok := number(v, 1, maxIterations)
				o.Iterations = Counts{n, n}
				return ok
			},
		},
		{
			short: 'x', long: "warmup", takes: required, value: "N", what: "number of warm-up iterations",
			help: "iterations per size before timing (default " + s.counts(func(o *Options) Counts { return o.WarmUp }) + ")",
			set: func(o *Options, v string) bool {
				n, ok := number(v, 0, maxIterations)
				o.WarmUp = Counts{n, n}
				return ok
			},
		},
		{
			short: 'W', long: "window-size", takes: required, value: "N", what: "window size",
			help: "messages in flight per iteration (default 64)",
			set:  func(o *Options, v string) (ok bool) { o.Window, ok = number(v, 1, maxWindow); return ok },
		},
		{
			short: 'p', long: "pairs", takes: required, value: "N", what: "number of pairs",
			help: "pairs of ranks (default: half as many as ranks)",
			set:  func(o *Options, v string) (ok bool) { o.Pairs, ok = number(v, 1, maxPairs); return ok },
		},
		{
			short: 'R', long: "print-rate", takes: required, value: "0|1", what: "message rate option",
			help: "print message rates (default 1)",
			set:  func(o *Options, v string) bool { return oneOf(&o.Rates, v, "0", "1") },
		},
		{
			short: 'V', long: "vary-window", help: "vary the window, from 1 to 128 messages",
			set: func(o *Options, _ string) bool { o.Vary = true; return true },
		},
		{
			short: 'b', long: "buffer-num", takes: required, value: "single|multiple", what: "buffer number",
			help: "one buffer for all messages, or new ones per size and,\nin a window, per message (default single)",
			set:  func(o *Options, v string) bool { return oneOf(&o.Multiple, v, "single", "multiple") },
		},
		{
			short: 'a', long: "buffer-alloc", takes: required, value: "heap|alloc", what: "buffer allocation",
			help: "where buffers come from: make, or comm.Alloc, whose\nmemory peers can read directly (default heap)",
			set:  func(o *Options, v string) bool { return oneOf(&o.Alloc, v, "heap", "alloc") },
		},
		{
			short: 'c', long: "validation", help: "check what arrives (default off)",
			set: func(o *Options, _ string) bool { o.Validate = true; return true },
		},
		{
			short: 'u', long: "validation-warmup", takes: required, value: "N", what: "number of validation warm-up iterations",
			help: "with -c, iterations before each timed one (default 5)",
			set: func(o *Options, v string) (ok bool) {
				o.ValidateWarmUp, ok = number(v, 0, maxIterations)
				return ok
			},
		},
		{
			short: 'f', long: "full", help: "print minimum, maximum and iterations beside the average",
			set: func(o *Options, _ string) bool { o.Full = true; return true },
		},
		{
			short: 'z', long: "tail-lat", takes: optional, value: "[P,...]", what: "percentiles",
			help: "print percentiles, attached as in -z50,99: at most 5\nof 1 to 99 (-z alone: 50,90,99)",
			set:  setPercentiles,
		},
		{
			long: "clock", help: "print what reading the clock costs",
			set: func(o *Options, _ string) bool { o.Clock = true; return true },
		},
		{
			long: "cpus", help: "print the CPUs that the ranks are pinned to (-1: not to one)",
			set: func(o *Options, _ string) bool { o.CPUs = true; return true },
		},
		{
			long: "decimals", takes: required, value: "N", what: "number of decimals",
			help: "decimals of the figures (default 2)",
			set:  func(o *Options, v string) (ok bool) { o.Decimals, ok = number(v, 0, maxDecimals); return ok },
		},
	}
	return slices.DeleteFunc(table, func(opt option) bool {
		switch opt.short {
		case 'h', 'v':
			return false
		case 'm', 'a', 'c', 'u':
			return s.Metric == Once || s.Sizeless
		case 'b':
			return s.Metric == Once || s.Metric == Mean
		case 'f':
			return s.Metric != Mean
		case 'W':
			return s.Metric != Bandwidth && s.Metric != Rate
		case 'p':
			return !s.Paired
		case 'R', 'V':
			return s.Metric != Rate
		}
		return s.Metric == Once
	})
}

// counts writes a default that depends on the message size.
func (s *Spec) counts(of func(*Options) Counts) string {
	o := defaults(s.Metric)
	c := of(&o)
	return strconv.Itoa(c.Small) + ",\n" + strconv.Itoa(c.Large) + " above " + strconv.Itoa(largeMessage) + " bytes"
}

// number reads a decimal number between least and most. Only digits count: a
// sign, a unit or another base is a mistake.
func number(s string, least, most int) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= least && n <= most
}

func oneOf(second *bool, v, no, yes string) bool {
	*second = v == yes
	return v == no || v == yes
}

func setSizes(o *Options, v string) bool {
	low, high, ranged := strings.Cut(v, ":")
	if !ranged {
		low, high = "", v
	}
	ok := low != "" || high != ""
	if low != "" {
		var valid bool
		o.Min, valid = number(low, 0, maxSize)
		ok = ok && valid
	}
	if high != "" {
		var valid bool
		o.Max, valid = number(high, 1, maxSize)
		ok = ok && valid
	}
	return ok && o.Min <= o.Max
}

func setPercentiles(o *Options, v string) bool {
	if v == "" {
		o.Percentiles = []int{50, 90, 99}
		return true
	}
	o.Percentiles = nil
	for field := range strings.SplitSeq(v, ",") {
		p, ok := number(field, 1, 99)
		if !ok || len(o.Percentiles) == maxPercentiles {
			return false
		}
		o.Percentiles = append(o.Percentiles, p)
	}
	return true
}
