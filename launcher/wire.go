package launcher

import (
	"slices"
	"strings"
	"time"
)

// What front and supervisor say to each other, as gob: the front sends one
// spec and then orders; the supervisor sends one Result. The end of the
// connection is the other's death.

// supervisorName is argv[0] of the supervisor. It doesn't contain the name of
// the command, so that whoever kills by name kills one of the two.
const supervisorName = "verbena-supervisor"

// supervisorFD is the supervisor's end of the connection.
const supervisorFD = 3

type spec struct {
	Parts []part
	Plan  *plan
	Reach reach // of other hosts

	FanOut     int // agents that one process starts by itself
	AgentLimit time.Duration

	Preload []string // absolute
	Self    string   // this program's file
	Dir     string   // where it was started
	Env     []string // of builds

	BuildFlags []string

	ReportBindings bool
	DisplayMap     bool

	Input          Input
	Output         Output
	Bind           Bind
	Timeout        time.Duration
	Continuous     bool
	DetectDeadlock bool
	Verbose        bool
	TempDir        string // made by the supervisor if needed, removed by either
}

type order struct {
	Signal int
	Cancel bool // end the job
}

// How long another host may be silent, and the least that makes sense for a process
// that has to share its cores with ranks.
const (
	defaultPatience = 10 * time.Second
	minPatience     = 2 * time.Second
)

// patience is how long another host may be silent: as long as a rank there.
func (s *spec) patience() time.Duration {
	patience := defaultPatience
	for _, kv := range s.Env {
		if value, ok := strings.CutPrefix(kv, "VERBENA_PEER_TIMEOUT="); ok {
			if d, err := time.ParseDuration(value); err == nil { // else the ranks will say so
				patience = d
			}
		}
	}
	return max(patience, minPatience)
}

// builds says whether anything is to be built.
func (s *spec) builds() bool {
	return slices.ContainsFunc(s.Parts, func(p part) bool { return p.Program.Package != "" })
}
