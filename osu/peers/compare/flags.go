package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// variant is one way of running this library's program.
type variant struct {
	name string
	env  []string
	args []string
}

// parse reads the command line.
func parse(args []string, usage io.Writer) (*config, error) {
	cfg := new(config)
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&cfg.bench, "bench", "latency", "`name` of the benchmark: latency or bw")
	hosts := f.String("hosts", "", "the ranks' two `hosts`, with a comma between; implies -net tcp")
	net := f.String("net", "shm", "what the messages go over: shm or tcp")
	sizes := f.String("sizes", "8,4096,65536,1048576", "message sizes in bytes, a `list`")
	f.IntVar(&cfg.rounds, "rounds", 5, "how often each side runs, at each size")
	f.IntVar(&cfg.maxRounds, "max-rounds", 0, "go on until so many `rounds` are done while a side has less than -rounds runs that count")
	f.IntVar(&cfg.iterations, "i", 0, "timed iterations (0: the programs' defaults)")
	f.IntVar(&cfg.warmUp, "x", -1, "warm-up iterations (-1: the programs' defaults)")
	f.IntVar(&cfg.window, "W", 0, "window of bw (0: the programs' default)")
	names := f.String("peers", "all", "peers to compare with, a `list`; all, or none for no peer")
	f.Func("ours", "a `variant` of ours: its name, then environment (A=B) and arguments, with spaces between; may be given several times; none for peers only (default ours)", func(s string) error {
		v, err := parseVariant(s)
		cfg.ours = append(cfg.ours, v)
		return err
	})
	f.Float64Var(&cfg.far, "far", 80, "the CPUs are far from each other when a cache line takes this many `ns` or more")
	f.Float64Var(&cfg.others, "others", 0.2, "runs during which other programs used more of the two `CPUs` than this are discarded")
	f.DurationVar(&cfg.wait, "wait", 5*time.Second, "how long a run waits for other programs to leave the CPUs, at most")
	f.DurationVar(&cfg.timeout, "timeout", time.Minute, "limit for one run")
	f.StringVar(&cfg.output, "o", "", "write the report to this `file` too, as markdown")
	f.BoolVar(&cfg.verbose, "v", false, "print each run")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("what is %q?", f.Arg(0))
	}

	for s := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-sizes: %q is not a size", s)
		}
		cfg.sizes = append(cfg.sizes, n)
	}
	if *hosts != "" {
		*net, cfg.hosts = string(tcp), strings.Split(*hosts, ",")
		if len(cfg.hosts) != 2 {
			return nil, fmt.Errorf("-hosts: %q are not two", *hosts)
		}
	}
	if cfg.net = network(*net); cfg.net != shm && cfg.net != tcp {
		return nil, fmt.Errorf("-net: %q is neither shm nor tcp", *net)
	}
	all := cfg.net.peerNames()
	switch *names {
	case "all":
		cfg.peers = all
	case "none":
	default:
		cfg.peers = strings.Split(*names, ",")
	}
	for _, p := range cfg.peers {
		if !slices.Contains(all, p) {
			return nil, fmt.Errorf("-peers: %q is none of %s", p, strings.Join(all, ", "))
		}
	}
	switch {
	case len(cfg.ours) == 0:
		cfg.ours = []variant{{name: "ours"}}
	case len(cfg.ours) == 1 && cfg.ours[0].name == "none":
		cfg.ours = nil
	}
	for i, v := range cfg.ours {
		taken := func(w variant) bool { return w.name == v.name }
		if slices.Contains(all, v.name) || slices.ContainsFunc(cfg.ours[:i], taken) {
			return nil, fmt.Errorf("-ours: the name %q is taken", v.name)
		}
	}
	switch {
	case cfg.bench != "latency" && cfg.bench != "bw":
		return nil, fmt.Errorf("-bench: %q is neither latency nor bw", cfg.bench)
	case cfg.rounds < 1:
		return nil, fmt.Errorf("-rounds: %d", cfg.rounds)
	case cfg.iterations < 0 || cfg.window < 0:
		return nil, fmt.Errorf("-i and -W must not be negative")
	case cfg.timeout <= 0:
		return nil, fmt.Errorf("-timeout: %v", cfg.timeout)
	}
	return cfg, nil
}

// parseVariant reads "name A=B -c …".
func parseVariant(s string) (variant, error) {
	fields := strings.Fields(s)
	if len(fields) == 0 {
		return variant{}, fmt.Errorf("a variant needs a name")
	}
	v := variant{name: fields[0]}
	for _, f := range fields[1:] {
		if strings.Contains(f, "=") && !strings.HasPrefix(f, "-") {
			v.env = append(v.env, f)
		} else {
			v.args = append(v.args, f)
		}
	}
	return v, nil
}

// arguments returns a program's arguments for one size. All programs take the
// same ones.
func (cfg *config) arguments(size int) []string {
	args := []string{"-m", fmt.Sprintf("%d:%d", size, size)}
	if cfg.iterations > 0 {
		args = append(args, "-i", strconv.Itoa(cfg.iterations))
	}
	if cfg.warmUp >= 0 {
		args = append(args, "-x", strconv.Itoa(cfg.warmUp))
	}
	if cfg.window > 0 && cfg.bench == "bw" {
		args = append(args, "-W", strconv.Itoa(cfg.window))
	}
	return args
}
