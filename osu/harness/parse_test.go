package harness

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct {
		args string
		want func(*Options)
	}{
		{"", func(*Options) {}},
		{"-m 128", func(o *Options) { o.Max = 128 }},
		{"-m128", func(o *Options) { o.Max = 128 }},
		{"-m 2:128", func(o *Options) { o.Min, o.Max = 2, 128 }},
		{"-m 2:", func(o *Options) { o.Min = 2 }},
		{"-m :64", func(o *Options) { o.Max = 64 }},
		{"-m 0:8", func(o *Options) { o.Min, o.Max = 0, 8 }},
		{"--message-size 2:128", func(o *Options) { o.Min, o.Max = 2, 128 }},
		{"--message-size=2:128", func(o *Options) { o.Min, o.Max = 2, 128 }},
		{"-i 7", func(o *Options) { o.Iterations = Counts{7, 7} }},
		{"-x 0", func(o *Options) { o.WarmUp = Counts{0, 0} }},
		{"--iterations=7 --warmup=3", func(o *Options) { o.Iterations, o.WarmUp = Counts{7, 7}, Counts{3, 3} }},
		{"-W 8", func(o *Options) { o.Window = 8 }},
		{"-b multiple", func(o *Options) { o.Multiple = true }},
		{"-b multiple -b single", func(*Options) {}},
		{"-a alloc", func(o *Options) { o.Alloc = true }},
		{"--buffer-alloc=heap", func(*Options) {}},
		{"-c", func(o *Options) { o.Validate = true }},
		{"-cu 2", func(o *Options) { o.Validate, o.ValidateWarmUp = true, 2 }},
		{"-cu0", func(o *Options) { o.Validate, o.ValidateWarmUp = true, 0 }},
		{"-z", func(o *Options) { o.Percentiles = []int{50, 90, 99} }},
		{"-z -c", func(o *Options) { o.Percentiles, o.Validate = []int{50, 90, 99}, true }},
		{"-z50,99", func(o *Options) { o.Percentiles = []int{50, 99} }},
		{"-cz1,2,3,4,5", func(o *Options) { o.Validate, o.Percentiles = true, []int{1, 2, 3, 4, 5} }},
		{"--tail-lat", func(o *Options) { o.Percentiles = []int{50, 90, 99} }},
		{"--tail-lat=99", func(o *Options) { o.Percentiles = []int{99} }},
		{"--clock", func(o *Options) { o.Clock = true }},
		{"--cpus --decimals 4", func(o *Options) { o.CPUs, o.Decimals = true, 4 }},
		{"-h", func(o *Options) { o.Help = true }},
		{"-v", func(o *Options) { o.Version = true }},
		{"-c --", func(o *Options) { o.Validate = true }},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			want := defaults(Bandwidth)
			tt.want(&want)
			got, err := bandwidthSpec.Parse(strings.Fields(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ args, want string }{
		{"-q", "Invalid option [-q]"},
		{"-cq", "Invalid option [-q]"},
		{"-W 8", "Invalid option [-W]"}, // latency has no window
		{"--quiet", "Invalid option [--quiet]"},
		{"--validation=yes", "Invalid option [--validation=yes]"},
		{"-", "Invalid argument [-]"},
		{"8", "Invalid argument [8]"},
		{"-- 8", "Invalid argument [8]"},
		{"-z 50", "Invalid argument [50]"}, // the list is attached
		{"-m", "Missing argument [-m]"},
		{"--message-size", "Missing argument [--message-size]"},
		{"--message-size=", "Invalid message size [--message-size ]"},
		{"-m :", "Invalid message size [-m :]"},
		{"-m 0", "Invalid message size [-m 0]"},
		{"-m 8:4", "Invalid message size [-m 8:4]"},
		{"-m 1:2:3", "Invalid message size [-m 1:2:3]"},
		{"-m -8", "Invalid message size [-m -8]"},
		{"-m 8k", "Invalid message size [-m 8k]"},
		{"-m 0x8", "Invalid message size [-m 0x8]"},
		{"-m 99999999999999999999", "Invalid message size [-m 99999999999999999999]"},
		{"-i 0", "Invalid number of iterations [-i 0]"},
		{"-i x", "Invalid number of iterations [-i x]"},
		{"-x -1", "Invalid number of warm-up iterations [-x -1]"},
		{"-u -1", "Invalid number of validation warm-up iterations [-u -1]"},
		{"--decimals 10", "Invalid number of decimals [--decimals 10]"},
		{"-b both", "Invalid buffer number [-b both]"},
		{"-a stack", "Invalid buffer allocation [-a stack]"},
		{"-z0", "Invalid percentiles [-z 0]"},
		{"-z100", "Invalid percentiles [-z 100]"},
		{"-z50,", "Invalid percentiles [-z 50,]"},
		{"-z1,2,3,4,5,6", "Invalid percentiles [-z 1,2,3,4,5,6]"},
	}
	for _, tt := range tests {
		_, err := latencySpec.Parse(strings.Fields(tt.args))
		var bad *usageError
		if !errors.As(err, &bad) || bad.text != tt.want {
			t.Errorf("%s: got %v, want %s", tt.args, err, tt.want)
		}
	}
}

func TestParseTooMuchMemory(t *testing.T) {
	if _, err := bandwidthSpec.Parse([]string{"-b", "multiple", "-m", "1099511627776"}); err == nil {
		t.Error("64 messages of 1 TiB each: no error")
	}
}

// TestNamesGolden compares the options' names with those that the C suite
// prints, for the letters that both have.
func TestNamesGolden(t *testing.T) {
	line := regexp.MustCompile(`(?m)^  -(\w), --(\S+)`)
	theirs := make(map[string]string)
	for _, m := range line.FindAllStringSubmatch(golden(t, "ompi-osu_latency-badopt.txt"), -1) {
		theirs[m[1]] = m[2]
	}
	usage := latencySpec.usage()
	if !strings.HasPrefix(usage, "Usage: latency [options]\nOptions:\n") {
		t.Errorf("usage begins otherwise:\n%s", usage)
	}
	var common int
	for _, m := range line.FindAllStringSubmatch(usage, -1) {
		name, both := theirs[m[1]]
		if !both {
			continue
		}
		common++
		if m[2] != name {
			t.Errorf("-%s is --%s, and --%s in the C suite", m[1], m[2], name)
		}
	}
	if common < 9 {
		t.Errorf("only %d options have the C suite's letters", common)
	}
}

func TestSizes(t *testing.T) {
	tests := []struct {
		low, high int
		want      []int
	}{
		{1, 8, []int{1, 2, 4, 8}},
		{0, 4, []int{1, 2, 4}},
		{3, 13, []int{3, 6, 12}},
		{5, 5, []int{5}},
		{maxSize, maxSize, []int{maxSize}},
	}
	for _, tt := range tests {
		o := Options{Min: tt.low, Max: tt.high}
		if got := slices.Collect(o.Sizes()); !slices.Equal(got, tt.want) {
			t.Errorf("%d:%d gives %v, want %v", tt.low, tt.high, got, tt.want)
		}
	}
}

func TestCounts(t *testing.T) {
	o := defaults(Latency)
	for size, want := range map[int]int{1: 10000, 8192: 10000, 8193: 1000, 4 << 20: 1000} {
		if got := o.Iterations.For(size); got != want {
			t.Errorf("%d iterations at %d bytes, want %d", got, size, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"-m 2:128 -i 10", "-cz50,99", "--tail-lat=1 --", "-b multiple -W9", "-q", "-m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, spec := range []Spec{latencySpec, bandwidthSpec} {
			o, err := spec.Parse(strings.Split(line, " "))
			if err != nil {
				var bad *usageError
				if !errors.As(err, &bad) || bad.text == "" {
					t.Fatalf("%q: error without a text for the user: %v", line, err)
				}
				continue
			}
			if o.Min < 0 || o.Max < 1 || o.Min > o.Max || o.Max > maxSize {
				t.Fatalf("%q: sizes %d:%d", line, o.Min, o.Max)
			}
			if o.Window < 1 || o.Iterations.Small < 1 || o.Iterations.Large < 1 || o.WarmUp.Small < 0 || o.ValidateWarmUp < 0 {
				t.Fatalf("%q: %+v", line, o)
			}
			if len(o.Percentiles) > maxPercentiles {
				t.Fatalf("%q: %d percentiles", line, len(o.Percentiles))
			}
			for range o.Sizes() {
				continue // must end
			}
		}
	})
}
