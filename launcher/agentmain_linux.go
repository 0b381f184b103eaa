package launcher

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// An agent is two processes, as the launcher itself is. The one that was started by
// ssh or the like (the keeper) starts the one that has the ranks, hands it the
// connection, and waits. If that one dies the kernel kills its ranks, and the keeper
// what these have started; then it removes the agent's folder.
func init() {
	switch {
	case os.Args[0] == agentName:
		os.Exit(startAgent(os.Args[1:], agentMain))
	case len(os.Args) > 1 && os.Args[1] == agentArg:
		os.Exit(startAgent(os.Args[2:], agentKeeper))
	}
}

// agentOptions are an agent's arguments, as name=value.
type agentOptions struct {
	patience time.Duration // how long the supervisor may be silent
	home     string        // a folder for copies, made when needed; one of this program is there, perhaps
	sum      []byte        // of the program, if it is a copy
}

func (o agentOptions) args() []string {
	args := []string{"patience=" + strconv.FormatInt(o.patience.Milliseconds(), 10)}
	if o.home != "" {
		args = append(args, "home="+o.home)
	}
	if len(o.sum) > 0 {
		args = append(args, "sum="+hex.EncodeToString(o.sum))
	}
	return args
}

func parseAgentOptions(args []string) (o agentOptions, err error) {
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "patience":
			var ms int64
			ms, err = strconv.ParseInt(value, 10, 32)
			o.patience = time.Duration(ms) * time.Millisecond
		case "home":
			o.home = value
		case "sum":
			o.sum, err = hex.DecodeString(value)
		default:
			err = fmt.Errorf("unknown")
		}
		if err != nil {
			return o, fmt.Errorf("argument %q: %w", a, err)
		}
	}
	if o.patience < minPatience {
		return o, fmt.Errorf("patience=%v: expected at least %v", o.patience, minPatience)
	}
	return o, nil
}

func startAgent(args []string, f func(agentOptions) int) int {
	o, err := parseAgentOptions(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "verbrun: agent:", err)
		return StatusUsage
	}
	return f(o)
}

func agentKeeper(o agentOptions) int {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	dropSignals()
	if o.home == "" {
		o.home = filepath.Join(os.TempDir(), "verbrun-agent-"+strconv.Itoa(os.Getpid())+"-"+token())
	}
	defer func() { _ = os.RemoveAll(o.home) }()
	if len(o.sum) > 0 {
		if sum, err := fileSum("/proc/self/exe"); err != nil || !bytes.Equal(sum, o.sum) {
			fmt.Printf("\n%s%sthe copy of verbrun differs from what was sent\n", markerLine, markerFailed)
			return StatusInternal
		}
	}
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: slices.Concat([]string{agentName}, o.args()), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if err := cmd.Start(); err != nil {
		fmt.Printf("\n%s%s%v\n", markerLine, markerFailed, err)
		return StatusInternal
	}
	_, _ = os.Stdin.Close(), os.Stdout.Close() // or they would outlive their owner
	_ = cmd.Wait()
	sweepOrphans()
	return cmd.ProcessState.ExitCode()
}
