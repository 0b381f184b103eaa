package launcher

import (
	"runtime/debug"

	"github.com/verbena-mpi/verbena/internal/knobs"
)

// An agent is this same program, started on another host of the job, where it
// starts ranks and looks after them. It speaks over its standard input and output:
// a line that says who it is (marker.go), then a yamux session. On the first
// stream of the session both sides send gob messages; each of the others begins
// with a head, and belongs to one rank or to one starter.

// agentName is argv[0] of the process that has the ranks.
const agentName = "verbena-agent-ranks"

// agentVersion is what both sides must agree on: the number is that of the wire.
func agentVersion() string {
	v := "1 " + knobs.Version
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v += " " + info.Main.Version
	}
	return v
}

// agentSpec is what an agent is to do.
type agentSpec struct {
	Host    string // its name, as the job has it
	Index   int    // among the hosts that have agents
	Job     string
	Size    int
	Ranks   []agentRank // ascending
	Parts   []agentPart
	Files   []sentFile
	Bind    Bind
	Account bool // the host has another user than we are
	Return  bool // the supervisor wants to know how much of its input a rank has read
	Umask   int
	Verbose bool
}

type agentRank struct {
	ID, Part int
	Input    bool // it has a stream of standard input
}

// agentPart is a part, found on the supervisor's host.
type agentPart struct {
	Part part
	File int // its program, among Files; -1: what has its name there
}

// toAgent is a message to an agent: one of its fields is set.
type toAgent struct {
	Spec   *agentSpec
	Start  bool // the ranks
	Signal *agentSignal
	Kill   bool // everything, until nothing is left
	Look   int  // who is dead, who is dying? The number of the question, from 1
	Dial   *agentDial
}

type agentSignal struct {
	Signal int
	Groups bool
	But    int // a rank that doesn't get it, or -1
}

// agentDial asks for a starter: its input and output are the stream with this
// number, and what it says on standard error another.
type agentDial struct {
	ID      int
	Argv    []string
	AtDeath int // the signal for when the agent dies, or 0
}

// fromAgent is a message of an agent: one of its fields is set.
type fromAgent struct {
	Ready   *agentReady
	Refused *agentRefusal
	Started []int // pids, in the order of the ranks
	Deaths  *agentDeaths
	Empty   bool // no process of the job is left here
	Ended   *agentEnded
}

// agentReady: all has been checked, the ranks can be started.
type agentReady struct {
	Where   []string // on which cores each rank will run
	Missing []int    // files that must be sent first; then it says again that it is ready
}

// agentRefusal is an Error.
type agentRefusal struct {
	Status int
	Text   string
}

type agentDeaths struct {
	Batch batch
	Look  int // the question that this answers, or 0
}

// agentEnded is the end of a starter.
type agentEnded struct {
	ID     int
	Status uint32 // a WaitStatus
}

// The heads of streams: what it is, and of which rank or starter.
type streamKind byte

const (
	streamOut streamKind = iota + 1
	streamErr
	streamIn
	streamPMI
	streamControl
	streamFile // one that is sent
	streamStarter
	streamStarterErr
)
