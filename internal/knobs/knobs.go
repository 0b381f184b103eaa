// Package knobs describes Verbena's settings: what the environment may say, for
// the library, which reads them, and for the launcher, which lists them.
package knobs

import (
	"slices"
	"strings"
	"time"
)

// Version is the library's.
const Version = "0.1.0"

// Prefix begins the names of all settings.
const Prefix = "VERBENA_"

// Knob describes a setting.
type Knob struct {
	Name     string // of the environment
	Default  string
	Unit     string
	Sentence string
}

// All are the settings, as they are listed.
var All = []Knob{
	{"VERBENA_RECV", "srq", "", "Receive slots: srq, one queue for all peers, or peer, a queue for each."},
	{"VERBENA_MAX_INLINE", "400", "bytes", "Bytes that a send asks to carry inline; what the device grants counts."},
	{"VERBENA_EAGER_LIMIT", "16384", "bytes", "The largest message that is sent without waiting for its receiver."},
	{"VERBENA_SLOTS", "256", "slots", "Receive slots in the shared queue, or in each peer's."},
	{"VERBENA_RECV_OVERCOMMIT", "1", "", "How many times as many messages as there are slots may be under way; above 1 some may wait for a slot."},
	{"VERBENA_UNEXPECTED_LIMIT", "67108864", "bytes", "Memory for messages that came before their receives; a sender that has filled its share waits."},
	{"VERBENA_BUFFER_LIMIT", "67108864", "bytes", "Memory for messages of buffered sends that have not left; a send that finds it full fails."},
	{"VERBENA_CHECK_TYPES", "0", "", "1: a receive of another element type than the message's fails; the same in all ranks."},
	{"VERBENA_READ", "auto", "", "How large messages are read within a host: auto, direct, stream or copy."},
	{"VERBENA_DEVICES", "auto", "", "Devices that ranks may talk over, with commas between; auto: shared memory within a host, tcp between hosts; the same in all ranks."},
	{"VERBENA_NET", "", "", "Networks for tcp: interfaces and address ranges with commas between, ^ before what is left out, as in eth0,10.0.0.0/8,^docker0; nothing: all that are up."},
	{"VERBENA_TLS", "0", "", "1: connections between hosts are encrypted, by TLS 1.3 with keys of the job's own; the same in all ranks."},
	{"VERBENA_PEER_TIMEOUT", "10s", "duration", "How long a rank of another host may be silent, or take to be reached, before it counts as gone."},
	{"VERBENA_TCP_CONGESTION", "", "", "The congestion control of tcp connections, as the system names it; nothing: the system's own choice."},
	{"VERBENA_PRINT", "", "", "settings: print at start what is used, and where it came from; counters: print at the end what was counted; or both, with a comma between."},
	{"VERBENA_PPROF", "", "", "cpu: write a CPU profile of each rank to rank-N.pprof in its working directory."},
	{"VERBENA_ALONE", "", "", "1: a process is a world of one, whatever else the environment says."},
}

// Meeting are the variables by which ranks find each other that no launcher of ours
// has started. They are a process's place in a job, and its settings don't change
// what it does there.
var Meeting = []Knob{
	{"VERBENA_RANK", "", "", "Which rank this process is, from 0; else a launcher's variable says so, or JOB_COMPLETION_INDEX."},
	{"VERBENA_SIZE", "", "ranks", "How many ranks the job has; else a launcher's variable says so."},
	{"VERBENA_MEET", "", "", "host:port where rank 0 listens and the other ranks come to."},
	{"VERBENA_SECRET_FILE", "", "", "A file that only the user can read, with the same 16 bytes or more for all ranks; who doesn't have them isn't let in."},
	{"VERBENA_MEET_TIMEOUT", "60s", "duration", "How long a rank waits at most until all are there."},
}

// given are the names that the launcher gives to ranks.
var given = []string{"VERBENA_OWN_CORE", "VERBENA_CONTROL", "VERBENA_PRELOAD"}

// tests are the names that this module's own tests read: docs/TESTING.md.
var tests = []string{"VERBENA_LONG", "VERBENA_PROGRAMS"}

// Default is the default of a setting that there is.
func Default(name string) string {
	for _, list := range [][]Knob{All, Meeting} {
		if i := slices.IndexFunc(list, func(k Knob) bool { return k.Name == name }); i >= 0 {
			return list[i].Default
		}
	}
	panic("knobs: there is no " + name)
}

// Duration is the default of a setting that is a duration.
func Duration(name string) time.Duration {
	d, err := time.ParseDuration(Default(name))
	if err != nil {
		panic("knobs: the default of " + name + " is no duration")
	}
	return d
}

// Unknown says whether a name looks like a setting and nothing reads it. A
// Kubernetes service called verbena injects some that are left alone.
func Unknown(name string) bool {
	named := func(k Knob) bool { return k.Name == name }
	return strings.HasPrefix(name, Prefix) &&
		!slices.ContainsFunc(All, named) && !slices.ContainsFunc(Meeting, named) &&
		!slices.Contains(given, name) && !slices.Contains(tests, name) &&
		!strings.Contains(name, "_PORT") && !strings.Contains(name, "_SERVICE_")
}
