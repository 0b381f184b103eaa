package testbed

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// need is something that a test may need, and how to see whether it is there.
type need struct {
	name     string
	programs []string // in PATH, or beside it for daemons
	packages string   // Debian's, that have them
	try      string   // a script, in namespaces of its own
	host     bool     // with all namespaces of a host
}

// needs are all that can be needed. The script of "hosts" does once what New
// does.
func needs() []need {
	return []need{
		{"hosts", []string{"bash", "ip", "setpriv"}, "iproute2 util-linux", `set -e
mount --make-rprivate /
mount -t tmpfs run /run
ip link add br0 type bridge
ip link add p0 type veth peer name p1`, true},
		{"nft", []string{"nft"}, "nftables", `nft 'add table bridge a; add table inet b;
add chain bridge a c { type filter hook forward priority 0; }; add rule bridge a c numgen random mod 100 < 5 drop;
add chain inet b c { type filter hook output priority 0; }; add rule inet b c meta l4proto tcp reject with tcp reset'`, false},
		{"sshd", []string{"sshd", "ssh", "ssh-keygen"}, "openssh-server openssh-client", "", false},
		{"slurm", []string{"slurmctld", "slurmd", "srun", "sinfo", "munged"}, "slurm-wlm slurm-wlm-basic-plugins munge", "", false},
		{"hydra", []string{"mpiexec.hydra"}, "mpich", "", false},
		{"mpich", []string{"mpicc.mpich"}, "libmpich-dev", "", false},
		{"openmpi", []string{"mpirun.openmpi"}, "openmpi-bin", "", false},
	}
}

// Need skips the test, with the reason, unless all of this can be had: "hosts"
// (Linux, root, and a kernel that makes namespaces, bridges and cables), "nft"
// (for loss, resets and partitions), "sshd", "slurm", "hydra", "mpich" (to build
// its programs), "openmpi".
func Need(t testing.TB, what ...string) {
	t.Helper()
	for _, name := range what {
		i := slices.IndexFunc(needs(), func(n need) bool { return n.name == name })
		if i < 0 {
			t.Fatalf("testbed: nobody knows what %q is", name)
		}
		if err := needs()[i].missing(); err != nil {
			t.Skipf("skipped: %v", err)
		}
	}
}

// missing says why it can't be had.
func (n need) missing() error {
	for _, name := range n.programs {
		if _, err := program(name); err != nil {
			return fmt.Errorf("%s isn't installed (Debian: %s)", name, n.packages)
		}
	}
	if n.try == "" {
		return nil
	}
	if err := able(); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	s, err := newShell("trial", n.host)
	if err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	defer s.end()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if _, err := s.run(ctx, "("+n.try+")"); err != nil {
		return fmt.Errorf("%s: this system can't: %s", n.name, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}

// program is where a program is. Daemons may lie where a user's PATH doesn't go.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/sbin/", "/sbin/", "/usr/local/sbin/"} {
		if err == nil {
			break
		}
		path, err = exec.LookPath(dir + name)
	}
	return path, err
}

// program is where a program is that Need has found.
func (b *Bed) program(name string) string {
	b.t.Helper()
	path, err := program(name)
	if err != nil {
		b.t.Fatalf("testbed: %v", err)
	}
	return path
}
