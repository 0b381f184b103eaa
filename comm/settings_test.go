package comm

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/internal/bootstrap"

	"github.com/verbena-mpi/verbena/internal/knobs"
)

// Where a setting's value comes from: the program over the environment over the
// default, and what is no value is an error that names the setting.
func TestSettings(t *testing.T) {
	for _, v := range []struct {
		name    string
		program Config
		env     []string
		want    []Setting // those that are not the default
		err     []string  // what the error says
	}{
		{name: "defaults"},
		{name: "an empty value is none", env: []string{"VERBENA_RECV=", "VERBENA_SLOTS="}},
		{
			name: "environment",
			env:  []string{"VERBENA_RECV=peer", "VERBENA_MAX_INLINE=0", "VERBENA_EAGER_LIMIT=4KiB", "VERBENA_SLOTS=7"},
			want: []Setting{
				{"VERBENA_RECV", "peer", fromEnv},
				{"VERBENA_MAX_INLINE", "0", fromEnv},
				{"VERBENA_EAGER_LIMIT", "4096", fromEnv},
				{"VERBENA_SLOTS", "7", fromEnv},
			},
		},
		{
			name:    "program",
			program: Config{Recv: "peer", MaxInline: 64, EagerLimit: 1000, Slots: 9},
			want: []Setting{
				{"VERBENA_RECV", "peer", fromProgram},
				{"VERBENA_MAX_INLINE", "64", fromProgram},
				{"VERBENA_EAGER_LIMIT", "1000", fromProgram},
				{"VERBENA_SLOTS", "9", fromProgram},
			},
		},
		{
			name:    "program over environment",
			program: Config{Recv: "srq", MaxInline: 64},
			env:     []string{"VERBENA_RECV=peer", "VERBENA_MAX_INLINE=100", "VERBENA_SLOTS=5"},
			want: []Setting{
				{"VERBENA_RECV", "srq", fromProgram},
				{"VERBENA_MAX_INLINE", "64", fromProgram},
				{"VERBENA_SLOTS", "5", fromEnv},
			},
		},
		{
			name:    "the program's none",
			program: Config{MaxInline: -1, EagerLimit: -1},
			env:     []string{"VERBENA_MAX_INLINE=100"},
			want:    []Setting{{"VERBENA_MAX_INLINE", "0", fromProgram}, {"VERBENA_EAGER_LIMIT", "0", fromProgram}},
		},
		{name: "auto is srq", env: []string{"VERBENA_RECV=auto"}, want: []Setting{{"VERBENA_RECV", "srq", fromEnv}}},
		{name: "the limits themselves", env: []string{"VERBENA_EAGER_LIMIT=65472", "VERBENA_SLOTS=1"}, want: []Setting{
			{"VERBENA_EAGER_LIMIT", "65472", fromEnv}, {"VERBENA_SLOTS", "1", fromEnv},
		}},

		{
			name: "between hosts", program: Config{Net: "eth0,^docker0", PeerTimeout: 1500 * time.Millisecond, TLS: true},
			env: []string{"VERBENA_NET=lo", "VERBENA_TCP_CONGESTION=bbr", "VERBENA_PEER_TIMEOUT=1s"},
			want: []Setting{
				{"VERBENA_NET", "eth0,^docker0", fromProgram},
				{"VERBENA_TLS", "1", fromProgram},
				{"VERBENA_PEER_TIMEOUT", "1.5s", fromProgram},
				{"VERBENA_TCP_CONGESTION", "bbr", fromEnv},
			},
		},
		{name: "no duration", env: []string{"VERBENA_PEER_TIMEOUT=10"}, err: []string{"VERBENA_PEER_TIMEOUT (environment)", `"10" is not a duration, such as 10s`}},
		{name: "a short duration", program: Config{PeerTimeout: 1}, err: []string{"VERBENA_PEER_TIMEOUT (program)", "1ns is not in 100ms..1h0m0s"}},
		{name: "a negative duration", program: Config{PeerTimeout: -time.Second}, err: []string{"VERBENA_PEER_TIMEOUT (program)", "-1s is not in"}},
		{name: "no switch", env: []string{"VERBENA_TLS=yes"}, err: []string{"VERBENA_TLS (environment)", `"yes"`}},
		{name: "no device", env: []string{"VERBENA_DEVICES=pigeon"}, err: []string{"VERBENA_DEVICES (environment)", `no device "pigeon": this system has [`}},
		{name: "no device between two", program: Config{Devices: "auto,"}, err: []string{"VERBENA_DEVICES (program)", `no device "auto"`}},

		{name: "no kind of queue", env: []string{"VERBENA_RECV=both"}, err: []string{"VERBENA_RECV (environment)", `"both"`, "srq or peer"}},
		{name: "no way", env: []string{"VERBENA_READ=fast"}, err: []string{"VERBENA_READ (environment)", `"fast"`}},
		{name: "no way, of the program", program: Config{Read: "fast"}, err: []string{"VERBENA_READ (program)"}},
		{name: "no number", env: []string{"VERBENA_SLOTS=many"}, err: []string{"VERBENA_SLOTS (environment)", `"many"`}},
		{name: "negative", env: []string{"VERBENA_SLOTS=-1"}, err: []string{"VERBENA_SLOTS (environment)", `"-1"`}},
		{name: "too few", env: []string{"VERBENA_SLOTS=0"}, err: []string{"VERBENA_SLOTS (environment)", "0 is not in 1..1048576"}},
		{name: "too many", program: Config{EagerLimit: 65473}, err: []string{"VERBENA_EAGER_LIMIT (program)", "65473 is not in 0..65472"}},
		{name: "no print", env: []string{"VERBENA_PRINT=all"}, err: []string{"VERBENA_PRINT=all", "want settings"}},
		{
			name: "all errors at once", env: []string{"VERBENA_RECV=both", "VERBENA_SLOTS=many", "VERBENA_PRINT=all"},
			err: []string{"VERBENA_RECV", "VERBENA_SLOTS", "VERBENA_PRINT"},
		},
	} {
		t.Run(v.name, func(t *testing.T) {
			var out bytes.Buffer
			log := logrus.New()
			log.SetOutput(&out)
			s, err := v.program.resolve(append([]string{"PATH=/bin", "NOEQUALS"}, v.env...), log)
			if v.err != nil {
				if err == nil {
					t.Fatal("no error")
				}
				for _, want := range v.err {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the error doesn't say %q: %v", want, err)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var want []Setting
			for _, k := range knobs.All {
				switch k.Name {
				case "VERBENA_PRINT", "VERBENA_PPROF", "VERBENA_ALONE": // not among a world's
					continue
				}
				w := Setting{k.Name, k.Default, fromDefault}
				if i := slices.IndexFunc(v.want, func(s Setting) bool { return s.Name == k.Name }); i >= 0 {
					w = v.want[i]
				}
				want = append(want, w)
			}
			if d := cmp.Diff(want, s.list()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if out.Len() != 0 {
				t.Errorf("logged %s", &out)
			}
		})
	}
}

// A name that is no setting is named; those that a cluster's service discovery
// makes of a service called verbena are not.
func TestUnknownSettings(t *testing.T) {
	var out bytes.Buffer
	log := logrus.New()
	log.SetOutput(&out)
	_, err := Config{}.resolve([]string{
		"VERBENA_EAGER_LIMTI=5", "VERBENA_SERVICE_HOST=10.0.0.1", "VERBENA_PORT=tcp://10.0.0.1:80", "VERBENA_PORT_80_TCP=x",
		"VERBENA_OWN_CORE=1", "VERBENA_ALONE=1", "VERBENATED=1",
	}, log)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "level="); n != 1 || !strings.Contains(out.String(), "VERBENA_EAGER_LIMTI is no setting") {
		t.Errorf("logged %s", &out)
	}
}

// Settings are printed on demand, each with its origin.
func TestPrintSettings(t *testing.T) {
	var out bytes.Buffer
	log := logrus.New()
	log.SetOutput(&out)
	if _, err := (Config{Slots: 3}).resolve([]string{"VERBENA_PRINT=settings", "VERBENA_RECV=peer"}, log); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"VERBENA_RECV=peer (environment)", "VERBENA_SLOTS=3 (program)", "VERBENA_MAX_INLINE=400 (default)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "1": 1, "007": 7, "400": 400, "12B": 12, "1KiB": 1024, "64KiB": 65536, "3MiB": 3 << 20, "1099511627775": 1<<40 - 1,
	} {
		if n, err := parseSize(text); err != nil || n != want {
			t.Errorf("%q: %d, %v, want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "B", "KiB", "-1", "+1", "1.5", "1e3", "0x10", "1 KiB", "1kib", "1K", "1GiB", "1KiBKiB", "1099511627776", "9999999999999999999999"} {
		if n, err := parseSize(text); err == nil {
			t.Errorf("%q: %d", text, n)
		}
	}
}

// What a world says of itself are the settings that it uses.
func TestInfoSettings(t *testing.T) {
	w := &World{settings: must(Config{Recv: "peer"}.resolve(nil, logrus.New()))}
	if d := cmp.Diff(Setting{"VERBENA_RECV", "peer", fromProgram}, w.settings.list()[0]); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// With VERBENA_PRINT=counters a rank says at its end what it has counted.
func TestPrintCounters(t *testing.T) {
	var text bytes.Buffer
	log := logrus.New()
	log.SetOutput(&text)
	s, err := Config{}.resolve([]string{"VERBENA_PRINT=counters,settings"}, log)
	if err != nil || !s.Counters || !strings.Contains(text.String(), "VERBENA_RECV=srq (default)") {
		t.Fatalf("%v, %s", err, &text)
	}
	text.Reset()
	w, err := newWorld(context.Background(), bootstrap.NewLocal(1, "").Job(0), s, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := Send(context.Background(), w.Comm(), []byte{1}, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := "comm: rank 0: unexpected.bytes.held=1 unexpected.messages=1"; !strings.Contains(text.String(), want) {
		t.Errorf("%s, want %s", &text, want)
	}
}
