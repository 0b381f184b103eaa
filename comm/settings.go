package comm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/knobs"
	"github.com/verbena-mpi/verbena/srq"
)

// Config are a program's own settings. The zero value is right for most: each
// field that is 0 or "" takes the environment's value, or else the default; what
// the program sets wins over the environment. VERBENA_PRINT=settings prints what
// is really used.
type Config struct {
	// Recv is "srq", one shared receive queue, or "peer", one queue per peer.
	// VERBENA_RECV; default srq.
	Recv string
	// MaxInline is how many bytes, header of 16 included, a send may carry
	// inline; devices may grant more or less. Negative: none.
	// VERBENA_MAX_INLINE; default 400.
	MaxInline int
	// EagerLimit is the largest message, in bytes, that is sent without waiting
	// for its receiver. Negative: none but empty ones. VERBENA_EAGER_LIMIT;
	// default 16384.
	EagerLimit int
	// Slots is how many receive slots of the eager limit's size the shared
	// queue has, or each peer's. VERBENA_SLOTS; default 256.
	Slots int
	// RecvOvercommit lets so many times as many messages be under way to this rank
	// as it has slots. Above 1 one may find no slot; it waits, and is counted
	// (device.rnr). VERBENA_RECV_OVERCOMMIT; default 1.
	RecvOvercommit float64
	// UnexpectedLimit is how much memory, in bytes, messages that came before their
	// receives may take. Each peer has an equal share; one that has filled it may
	// send nothing more to this rank until some of it is received.
	// VERBENA_UNEXPECTED_LIMIT; default 64 MiB.
	UnexpectedLimit int
	// BufferLimit is how much memory, in bytes, messages of sends in Buffered mode may
	// take that have not left yet; each counts with 256 bytes more. Negative: none, so
	// that such a send fails unless it leaves at once. VERBENA_BUFFER_LIMIT; default
	// 64 MiB.
	BufferLimit int
	// CheckTypes has each receive compare its element type with the message's, for
	// finding errors: if they differ it fails, with ErrType. Types agree if they are made
	// of the same numbers in the same places; bytes agree with all. Messages are longer
	// by 64 bytes, and slower. The same in all ranks. VERBENA_CHECK_TYPES; default off.
	CheckTypes bool
	// Read is how large messages are read within a host: "auto", "direct",
	// "stream" or "copy". VERBENA_READ; default auto.
	Read string

	// Devices are those that ranks may talk over, with commas between: "shm", shared
	// memory, for ranks of one host; "tcp". "auto" is all there are, of which the fastest
	// that reaches a rank is used. "tcp" alone is used within a host too. The same in all
	// ranks. VERBENA_DEVICES; default auto.
	Devices string
	// Net says which of this host's addresses tcp uses: names of interfaces and ranges of
	// addresses, with commas between, and ^ before one that is left out:
	// "eth0,10.0.0.0/8,^docker0". VERBENA_NET; default: all that are up.
	Net string
	// TLS encrypts what goes between hosts, by TLS 1.3 with keys that the job makes for
	// itself. That a rank belongs to the job is proved without it too. Messages are slower.
	// The same in all ranks. VERBENA_TLS; default off.
	TLS bool
	// PeerTimeout is how long a rank of another host may be silent, or take to be reached,
	// before it counts as gone: a cut cable is noticed after that time. A rank that only
	// computes is not silent, since its system answers. VERBENA_PEER_TIMEOUT; default 10 s.
	PeerTimeout time.Duration
	// Congestion names the congestion control of tcp connections, "bbr" for one.
	// VERBENA_TCP_CONGESTION; default: the system's own choice.
	Congestion string
}

// settings are the resolved ones, with where each value came from.
type settings struct {
	Recv       setting[srq.Mode]
	MaxInline  setting[int]
	EagerLimit setting[int]
	Slots      setting[int]
	Overcommit setting[float64]
	Unexpected setting[int]
	Buffer     setting[int]
	CheckTypes setting[bool]
	Read       setting[readWay]

	Devices     setting[deviceList]
	Net         setting[string]
	TLS         setting[bool]
	PeerTimeout setting[time.Duration]
	Congestion  setting[string]

	Counters bool // to be printed at the end
}

type setting[T any] struct {
	value  T
	origin string // "default", "environment" or "program"
}

const (
	fromDefault = "default"
	fromEnv     = "environment"
	fromProgram = "program"
)

func (c Config) resolve(environ []string, log *logrus.Logger) (s settings, err error) {
	env := map[string]string{}
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(k, knobs.Prefix) {
			env[k] = v
		}
	}
	warnUnknown(env, log)
	s.Recv, err = pick(env, "VERBENA_RECV", c.Recv, srq.ParseMode, err)
	if s.Recv.value == srq.Auto {
		s.Recv.value = srq.Shared
	}
	s.Read, err = pick(env, "VERBENA_READ", c.Read, parseWay, err)
	s.MaxInline, err = pickNumber(env, "VERBENA_MAX_INLINE", c.MaxInline, 0, 1<<31-1, err)
	s.CheckTypes, err = pick(env, "VERBENA_CHECK_TYPES", switchText(c.CheckTypes), parseSwitch, err)
	most := 1<<16 - 64
	if s.CheckTypes.value {
		most -= eager.NoteSize
	}
	s.EagerLimit, err = pickNumber(env, "VERBENA_EAGER_LIMIT", c.EagerLimit, 0, most, err)
	s.Slots, err = pickNumber(env, "VERBENA_SLOTS", c.Slots, 1, 1<<20, err)
	s.Overcommit, err = pick(env, "VERBENA_RECV_OVERCOMMIT", factorText(c.RecvOvercommit), parseFactor, err)
	s.Unexpected, err = pickNumber(env, "VERBENA_UNEXPECTED_LIMIT", c.UnexpectedLimit, 0, 1<<40, err)
	s.Buffer, err = pickNumber(env, "VERBENA_BUFFER_LIMIT", c.BufferLimit, 0, 1<<40, err)
	s.Devices, err = pick(env, "VERBENA_DEVICES", c.Devices, parseDevices, err)
	s.Net, err = pick(env, "VERBENA_NET", c.Net, parseText, err)
	s.TLS, err = pick(env, "VERBENA_TLS", switchText(c.TLS), parseSwitch, err)
	s.PeerTimeout, err = pick(env, "VERBENA_PEER_TIMEOUT", durationText(c.PeerTimeout), parseTimeout, err)
	s.Congestion, err = pick(env, "VERBENA_TCP_CONGESTION", c.Congestion, parseText, err)
	for _, what := range strings.Split(env["VERBENA_PRINT"], ",") {
		switch what {
		case "":
		case "settings":
			s.print(log)
		case "counters":
			s.Counters = true
		default:
			err = errors.Join(err, fmt.Errorf("VERBENA_PRINT=%s: want settings or counters, or both with a comma between", env["VERBENA_PRINT"]))
		}
	}
	return s, err
}

// warnUnknown names VERBENA_ variables that nothing reads.
func warnUnknown(env map[string]string, log *logrus.Logger) {
	for name := range env {
		if knobs.Unknown(name) {
			log.Warnf("comm: %s is no setting of verbena", name)
		}
	}
}

// pick resolves a setting that has names as values.
func pick[T any](env map[string]string, name, program string, parse func(string) (T, error), before error) (s setting[T], err error) {
	text := knobs.Default(name)
	s.origin = fromDefault
	if v, ok := env[name]; ok && v != "" {
		text, s.origin = v, fromEnv
	}
	if program != "" {
		text, s.origin = program, fromProgram
	}
	if s.value, err = parse(text); err != nil {
		err = fmt.Errorf("%s (%s): %w", name, s.origin, err)
	}
	return s, errors.Join(before, err)
}

// pickNumber resolves a setting that is a number. The program's negative means 0.
func pickNumber(env map[string]string, name string, program, low, high int, before error) (s setting[int], err error) {
	if program != 0 {
		s = setting[int]{max(program, 0), fromProgram}
	} else {
		text := knobs.Default(name)
		s.origin = fromDefault
		if v, ok := env[name]; ok && v != "" {
			text, s.origin = v, fromEnv
		}
		s.value, err = parseSize(text)
	}
	if err == nil && (s.value < low || s.value > high) {
		err = fmt.Errorf("%d is not in %d..%d", s.value, low, high)
	}
	if err != nil {
		err = fmt.Errorf("%s (%s): %w", name, s.origin, err)
	}
	return s, errors.Join(before, err)
}

// parseSwitch reads 1 or 0.
func parseSwitch(text string) (bool, error) {
	switch text {
	case "1":
		return true, nil
	case "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither 1 nor 0", text)
}

// switchText is a program's setting: off is not set.
func switchText(on bool) string {
	if on {
		return "1"
	}
	return ""
}

// timeoutLeast and timeoutMost bound how long a peer may be silent.
const (
	timeoutLeast = 100 * time.Millisecond
	timeoutMost  = time.Hour
)

// parseTimeout reads a duration, as Go writes it.
func parseTimeout(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration, such as 10s or 500ms", text)
	}
	if d < timeoutLeast || d > timeoutMost {
		return 0, fmt.Errorf("%v is not in %v..%v", d, timeoutLeast, timeoutMost)
	}
	return d, nil
}

// durationText is a program's setting: 0 is not set.
func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// parseText takes a text as it is: who uses it checks it.
func parseText(text string) (string, error) { return text, nil }

// parseFactor reads a number from 1 to 1000.
func parseFactor(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 1 && f <= 1000) {
		return 0, fmt.Errorf("%q is not a number from 1 to 1000", text)
	}
	return f, nil
}

func factorText(f float64) string {
	if f == 0 {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// parseSize reads a decimal number, with KiB or MiB if it says so.
func parseSize(text string) (int, error) {
	factor := 1
	digits := text
	for unit, f := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20, "B": 1} {
		if d, ok := strings.CutSuffix(text, unit); ok && len(d) < len(digits) {
			digits, factor = d, f
		}
	}
	n, err := strconv.ParseUint(digits, 10, 40)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of bytes: want a decimal number, or one followed by KiB or MiB", text)
	}
	return int(n) * factor, nil
}

func (s settings) print(log *logrus.Logger) {
	for _, v := range s.list() {
		log.Printf("%s=%s (%s)", v.Name, v.Value, v.Origin)
	}
}

var onOff = map[bool]string{false: "0", true: "1"}

func (s settings) list() []Setting {
	return []Setting{
		{"VERBENA_RECV", s.Recv.value.String(), s.Recv.origin},
		{"VERBENA_MAX_INLINE", strconv.Itoa(s.MaxInline.value), s.MaxInline.origin},
		{"VERBENA_EAGER_LIMIT", strconv.Itoa(s.EagerLimit.value), s.EagerLimit.origin},
		{"VERBENA_SLOTS", strconv.Itoa(s.Slots.value), s.Slots.origin},
		{"VERBENA_RECV_OVERCOMMIT", factorText(s.Overcommit.value), s.Overcommit.origin},
		{"VERBENA_UNEXPECTED_LIMIT", strconv.Itoa(s.Unexpected.value), s.Unexpected.origin},
		{"VERBENA_BUFFER_LIMIT", strconv.Itoa(s.Buffer.value), s.Buffer.origin},
		{"VERBENA_CHECK_TYPES", onOff[s.CheckTypes.value], s.CheckTypes.origin},
		{"VERBENA_READ", s.Read.value.String(), s.Read.origin},
		{"VERBENA_DEVICES", s.Devices.value.text, s.Devices.origin},
		{"VERBENA_NET", s.Net.value, s.Net.origin},
		{"VERBENA_TLS", onOff[s.TLS.value], s.TLS.origin},
		{"VERBENA_PEER_TIMEOUT", s.PeerTimeout.value.String(), s.PeerTimeout.origin},
		{"VERBENA_TCP_CONGESTION", s.Congestion.value, s.Congestion.origin},
	}
}
