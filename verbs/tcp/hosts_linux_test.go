package tcp

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/internal/testbed"
)

// onHost opens contacts on a virtual host.
func onHost(t *testing.T, b *testbed.Bed, host int, c Config) *end {
	t.Helper()
	e := openedIn(t, c, accepts, func(f func()) { b.In(host, f) })
	e.host = hostID{1, byte(host)} // in one process all seem to be on one host
	return e
}

// dialFrom dials from a host.
func dialFrom(t *testing.T, b *testbed.Bed, host int, from, to *end, rail int) (*link, error) {
	t.Helper()
	var l link
	var err error
	b.In(host, func() { l, err = from.dial(t.Context(), to.addr(), 1, 2, rail) })
	if err == nil {
		t.Cleanup(func() { _ = l.close() })
	}
	return &l, err
}

func run(t *testing.T, b *testbed.Bed, host int, command string) {
	t.Helper()
	if out, err := b.Command(host, "sh", "-ec", command).CombinedOutput(); err != nil {
		t.Fatalf("on h%d: %s: %v\n%s", host, command, err, out)
	}
}

// Between hosts: the family and the interface that the filter names, TLS, and rails,
// each over a cable of its own. All have a bridge with the same address, which nobody
// dials.
func TestHosts(t *testing.T) {
	b := testbed.New(t, 2, testbed.Rails(2))
	for host := range 2 {
		run(t, b, host, "ip link add docker0 type bridge && ip addr add 172.17.0.1/16 dev docker0 && ip link set docker0 up")
	}
	for _, c := range []struct {
		name, filter string
		tls          bool
		rails        int
		via          []string // of rails 0 and 1
	}{
		{"all", "", false, 2, []string{"10.77.2.11 over eth0", "10.77.3.11 over eth1"}},
		{"the second cable first", "eth1,eth0", true, 2, []string{"10.77.3.11 over eth1", "10.77.2.11 over eth0"}},
		{"IPv6", "fd77::/16", false, 2, []string{"fd77:2::11 over eth0", "fd77:3::11 over eth1"}},
		{"one cable", "eth1", false, 1, []string{"10.77.3.11 over eth1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Config{Secret: secret.New(), Net: c.filter, TLS: c.tls}
			a, z := onHost(t, b, 0, cfg), onHost(t, b, 1, cfg)
			if n := a.rails(z.addr()); n != c.rails {
				t.Errorf("%d rails, expected %d", n, c.rails)
			}
			for rail, want := range c.via {
				out, err := dialFrom(t, b, 0, a, z, rail)
				if err != nil {
					t.Fatal(err)
				}
				in := z.taken(t)
				ip, name, _ := strings.Cut(want, " over ")
				if at, err := netip.ParseAddrPort(strings.TrimSuffix(out.via, " over "+name)); err != nil || at.Addr().String() != ip || at.Port() != z.port {
					t.Errorf("rail %d goes to %s, expected %s", rail, out.via, want)
				}
				if !strings.HasSuffix(in.via, " over "+name) || in.rail != rail || out.rail != rail {
					t.Errorf("rail %d comes in as %d from %s, expected %s", rail, in.rail, in.via, name)
				}
				say(t, out, []byte("hello"))
				if got := hear(t, in, 5); string(got) != "hello" {
					t.Errorf("hello arrives as %q", got)
				}
			}
			if _, err := dialFrom(t, b, 0, a, z, c.rails); err == nil || !strings.Contains(err.Error(), "no way to the peer") {
				t.Errorf("a rail that isn't there: %v", err)
			}
		})
	}
}

// The first cable is out of order on the other side: the next address is tried.
func TestNextAddress(t *testing.T) {
	b := testbed.New(t, 2, testbed.Rails(2))
	cfg := Config{Secret: secret.New(), Timeout: 4 * time.Second}
	a, z := onHost(t, b, 0, cfg), onHost(t, b, 1, cfg)
	run(t, b, 1, "ip link set eth0 down")
	out, err := dialFrom(t, b, 0, a, z, 0)
	if err != nil {
		t.Fatal(err)
	}
	z.taken(t)
	if !strings.HasSuffix(out.via, " over eth1") {
		t.Errorf("via %s, expected eth1", out.via)
	}
}

// A host that has been cut off can't be dialed, and the error comes in time and says
// where it was looked for.
func TestDialCutHost(t *testing.T) {
	b := testbed.New(t, 2)
	cfg := Config{Secret: secret.New(), Timeout: 2 * time.Second}
	a, z := onHost(t, b, 0, cfg), onHost(t, b, 1, cfg)
	b.Cut(1)
	start := time.Now()
	_, err := dialFrom(t, b, 0, a, z, 0)
	took := time.Since(start)
	if err == nil || !strings.Contains(err.Error(), "10.77.2.11:") || !strings.Contains(err.Error(), "[fd77:2::11]:") {
		t.Errorf("error %v, expected both addresses", err)
	}
	if took < cfg.Timeout/2 || took > limit/2 {
		t.Errorf("it took %v, expected %v", took, cfg.Timeout)
	}
}

// Packets get lost: it takes longer.
func TestDialWithLoss(t *testing.T) {
	testbed.Need(t, "nft")
	b := testbed.New(t, 2)
	cfg := Config{Secret: secret.New(), Timeout: limit}
	a, z := onHost(t, b, 0, cfg), onHost(t, b, 1, cfg)
	b.Loss(1, 10)
	for range 3 {
		if _, err := dialFrom(t, b, 0, a, z, 0); err != nil {
			t.Error(err)
		}
	}
}

// The cable of a link is cut: both ends hear of it within the set time and a bit,
// whether something was under way or not.
func TestCutLink(t *testing.T) {
	for _, busy := range []bool{false, true} {
		name := map[bool]string{false: "idle", true: "busy"}[busy]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := testbed.New(t, 2)
			cfg := Config{Secret: secret.New(), Timeout: 3 * time.Second}
			a, z := onHost(t, b, 0, cfg), onHost(t, b, 1, cfg)
			out, err := dialFrom(t, b, 0, a, z, 0)
			if err != nil {
				t.Fatal(err)
			}
			in := z.taken(t)
			b.Cut(1)
			start := time.Now()
			for _, l := range []*link{out, in} {
				if busy {
					if _, err := l.write([]byte("is anybody there?")); err != nil {
						t.Error(err)
					}
				}
			}
			for _, l := range []*link{out, in} {
				ready(t, l, unix.POLLIN)
				_, err := l.read(make([]byte, 1))
				if took := time.Since(start); !errors.Is(err, unix.ETIMEDOUT) && !errors.Is(err, unix.EHOSTUNREACH) || took < 2*time.Second || took > 8*time.Second {
					t.Errorf("dialed %v: %v after %v, expected a timeout after 3 s", l.dialed, err, took)
				}
			}
		})
	}
}
