package launcher

import (
	"slices"
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
	Env   []string // of builds

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

// builds says whether anything is to be built.
func (s *spec) builds() bool {
	return slices.ContainsFunc(s.Parts, func(p part) bool { return p.Program.Package != "" })
}
