package testbed

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// limit is how long a step may take, on a machine that does much else.
const limit = 30 * time.Second

// maxHosts is how many hosts have an address that can be read at a glance.
const maxHosts = 200

// Bed is a set of virtual hosts and the switch between them. Its methods are for
// one goroutine at a time, but Command and In are for any; what goes wrong ends
// the test.
type Bed struct {
	t      testing.TB
	dir    string // keys, configurations and logs; seen by all hosts
	rails  int
	hosts  []*shell
	sw     *shell
	faults faults
}

// Option is something that not every bed has.
type Option func(*Bed)

// Rails gives each host n cables instead of one.
func Rails(n int) Option { return func(b *Bed) { b.rails = n } }

// New makes hosts and joins them by a switch. It skips the test where that is
// impossible.
func New(t testing.TB, hosts int, options ...Option) *Bed {
	t.Helper()
	Need(t, "hosts")
	if hosts < 1 || hosts > maxHosts {
		t.Fatalf("testbed: a bed has 1 to %d hosts, not %d", maxHosts, hosts)
	}
	// Not t.TempDir: names of tests are long, and sockets have short names.
	dir, err := os.MkdirTemp("", "bed")
	if err != nil {
		t.Fatal(err)
	}
	b := &Bed{t: t, dir: dir, rails: 1}
	t.Cleanup(b.close)
	for _, o := range options {
		o(b)
	}
	b.write("hosts", b.names(hosts))
	// If this process is killed, the switch is who removes the folder.
	b.sw = b.start("switch", false, "trap "+quote("rm -rf "+quote(dir))+" EXIT")
	for i := range hosts {
		b.hosts = append(b.hosts, b.start(Name(i), true, fmt.Sprintf(boot, Name(i), b.path("hosts"))))
	}
	b.cable()
	return b
}

// boot makes a shell's namespaces a host's: its name, and its file of names.
const boot = `set -e
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=1777 shm /dev/shm
hostname %s
mount --bind %s /etc/hosts
ip link set lo up
set +e`

// close ends all hosts, and looks after it that they are gone.
func (b *Bed) close() {
	if b.t.Failed() {
		b.logs()
	}
	for _, s := range append([]*shell{b.sw}, b.hosts...) {
		if s != nil {
			s.end()
		}
	}
	if err := os.RemoveAll(b.dir); err != nil {
		b.t.Error(err)
	}
}

// Name is a host's name.
func Name(host int) string { return fmt.Sprintf("h%d", host) }

// Hosts is how many there are.
func (b *Bed) Hosts() int { return len(b.hosts) }

// Addr is a host's IPv4 address on the first cable.
func (b *Bed) Addr(host int) netip.Addr { return b.RailAddr(host, 0) }

// Addr6 is a host's IPv6 address on the first cable.
func (b *Bed) Addr6(host int) netip.Addr { return b.RailAddr6(host, 0) }

// RailAddr is a host's IPv4 address on a cable.
func (b *Bed) RailAddr(host, rail int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 77, byte(2 + rail), byte(10 + host)})
}

// RailAddr6 is a host's IPv6 address on a cable. Its last digits are those of
// the IPv4 address, read as decimal.
func (b *Bed) RailAddr6(host, rail int) netip.Addr {
	return netip.MustParseAddr(fmt.Sprintf("fd77:%d::%d", 2+rail, 10+host))
}

// names is what all hosts have in /etc/hosts.
func (b *Bed) names(hosts int) string {
	var s strings.Builder
	s.WriteString("127.0.0.1 localhost\n::1 localhost ip6-localhost\n")
	for i := range hosts {
		fmt.Fprintf(&s, "%v %s\n%v %[2]s-6\n", b.Addr(i), Name(i), b.Addr6(i))
	}
	return s.String()
}

// Hide mounts an empty folder over one that all hosts see: what the machine has
// there is invisible in this host, and what is written there stays in it.
func (b *Bed) Hide(host int, dir string) {
	b.t.Helper()
	b.do(b.hosts[host], "mount -t tmpfs hidden "+quote(dir))
}

// path is the path of a file in the bed's folder.
func (b *Bed) path(name string) string { return filepath.Join(b.dir, name) }

// write writes a file into the bed's folder, for its owner alone.
func (b *Bed) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// logs shows the ends of the logs of the bed's daemons.
func (b *Bed) logs() {
	names, _ := filepath.Glob(b.path("*.log"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		b.t.Logf("--- %s:\n%s", filepath.Base(name), text[max(0, len(text)-4<<10):])
	}
}

// quote makes one word of s for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
