package doctor

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/verbena-mpi/verbena/verbs/tcp"
)

// Machine is what checks look at. ThisMachine is the one that we run on.
type Machine struct {
	Root     string // of /proc and /sys
	Hosts    bool   // there are others, on which a job is to run
	Starter  string // the command that reaches them; "": ssh
	Version  string // of verbrun
	Tags     string // that this program was built with
	Env      []string
	Hostname func() (string, error)
	Resolve  func(ctx context.Context, name string) ([]netip.Addr, error)
	LookPath func(name string) (string, error)
	Networks func(filter string) ([]tcp.Network, error)

	// CopyTrial has one process read another one's memory, as ranks do: neither has
	// started the other.
	CopyTrial func() error
	// MemoryTrial makes memory that two processes share, as ranks do.
	MemoryTrial func() error
}

// ThisMachine is the real one.
func ThisMachine() *Machine {
	m := &Machine{
		Root: "/", Env: os.Environ(), Hostname: os.Hostname, LookPath: exec.LookPath, Networks: tcp.Networks,
		Resolve: func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		},
		CopyTrial: copyTrial, MemoryTrial: memoryTrial,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				m.Tags = s.Value
			}
		}
	}
	return m
}

// read returns a file's text without its last newline.
func (m *Machine) read(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(m.Root, name))
	return strings.TrimRight(string(b), "\n"), err
}

// field returns what a file of "Name: value" lines says about a name.
func (m *Machine) field(file, name string) (string, bool) {
	text, err := m.read(file)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// getenv returns the last value of a variable.
func (m *Machine) getenv(name string) string {
	value := ""
	for _, kv := range m.Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}
