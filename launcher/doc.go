// Package launcher starts the ranks of a job, looks after them and ends them.
// The command verbrun is a thin shell around Run.
//
// # Two processes
//
// The process that calls Run (the front) starts a supervisor, which is the
// same program started again, and the supervisor starts the ranks. The front
// passes on signals; the supervisor does all the rest. Two, so that each can
// clean up after the other:
//
//   - If the front dies, however, the connection between the two ends, and the
//     supervisor kills everything and removes the job's temporary folder. It
//     is the subreaper of whatever the ranks started, daemons included, so
//     that nothing gets away.
//   - If the supervisor dies, the kernel kills the ranks (parent death signal).
//     What they had started becomes the front's, if the front may take it
//     (Job.Solo, as in verbrun), and it kills that.
//
// Only if both are killed at the same moment can something stay behind: what
// the ranks had started, and a folder with a program that was built. The two
// have different names, so that killing by name kills one.
//
// When a job ends, everything that its ranks started ends with it. A program
// that is to outlive the job must be started by something else.
//
// Ranks may have a real-time priority (chrt -f 10 verbrun …). The two processes
// of the launcher then have the next higher one, since ranks that spin would
// not let them run.
//
// # Other hosts
//
// On each other host of the job (Job.Hosts) an agent starts the ranks: this same
// program, started there by ssh or the like, which speaks with the supervisor over
// its standard input and output. A program that calls Run with hosts must be at the
// same path on all of them, in the same version. Its first argument there is
// "verbena-agent", which this package's init takes: main isn't reached. When the
// connection ends the agent kills everything on its host; when it is silent for
// VERBENA_PEER_TIMEOUT either side takes the other for dead. docs/LAUNCHING.md has
// what goes along to other hosts and what doesn't.
//
// # Exit status
//
// The status of a job is that of the first rank to fail; one that was killed by
// signal n counts as 128+n, and an abort as the status that it names. The
// launcher's own are StatusUsage (2), StatusTimeout (124), StatusInternal (125),
// StatusNotExecutable (126), StatusNotFound (127), StatusHost (123), StatusBuild (1),
// StatusDeadlock (1), and 128+2 for a second interrupt. docs/LAUNCHING.md has a
// table of all cases, each of which is a test.
//
// The first rank to fail is the first in the order in which processes died,
// not in the order in which the launcher noticed. One line on standard error
// names the rank, its process and the reason, after all output of the ranks.
// Where deaths overlap, a rank killed by a signal counts before ranks that
// exited or called abort, for it is they who saw it die.
//
// # Signals
//
// INT, TERM, HUP and QUIT are passed to each rank's process group, as a
// terminal would; USR1 and USR2 to the rank's process alone. When a job is
// ended early, each rank's process group gets TERM and, a second later, KILL.
// A second interrupt kills at once. Suspending the launcher (control-Z) doesn't
// suspend the ranks. DumpSignal (SIGRTMIN+1) asks the ranks where they are blocked;
// docs/DEBUGGING.md says what is printed. If the go command that runs verbrun (go run, go tool) is
// killed, the job is canceled.
//
// # Streams
//
// Rank 0 gets the launcher's standard input itself, or a pipe with what is
// typed if that is a terminal; the others get /dev/null. With InputAll every
// rank has a pipe, and what has been read is written to all of them before more
// is read. Output is passed on in whole lines of up to a mebibyte; an unfinished
// line is shown at once only at a terminal, to whoever is typing. Tags and times
// are put where streams meet (sink), which knows when a line really begins. If
// the reader of the output goes away, the ranks go on and the output is dropped;
// if it can't be written for another reason (a full disk), the job's status is
// 125 unless a rank has failed.
//
// What a rank writes to its standard error from a line on that looks like a crash
// of Go's runtime is held back until it is clear whether it is one, for half a
// second or until the ranks have gone: of several ranks that crash one trace is
// shown. docs/DEBUGGING.md has the rule.
//
// The launcher waits for whoever reads its output as long as it takes: that is
// its one wait without a limit, and a signal ends it.
//
// # Placement
//
// On which host each rank runs is decided in one plan, before any is started: DryRun
// prints the same one that Run follows. On which cores is decided on each host,
// among the ranks that it has (binding). Only the thread that starts ranks is
// moved, and each rank inherits from it.
//
// # Environment
//
// Ranks get PMI_FD, PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS and,
// if each has a core of its own, VERBENA_OWN_CORE=1. VERBENA_CONTROL names the
// descriptors of the control connection (package internal/control). What another launcher has
// said about itself in variables of PMI and PMIx is removed; all else is passed
// on as it is, GOMAXPROCS included. A Part may add variables.
package launcher
