package testbed

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen listens on a host's port, in all families.
func listen(t *testing.T, b *Bed, host int) uint16 {
	t.Helper()
	var l net.Listener
	var err error
	b.In(host, func() { l, err = net.Listen("tcp", ":0") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

// Every host reaches every other, over each cable and family, and none reaches
// the machine.
func TestDial(t *testing.T) {
	t.Parallel()
	b := New(t, 3, Rails(2))
	for to := range 3 {
		port := listen(t, b, to)
		for from := range 3 {
			for rail := range 2 {
				for _, addr := range []netip.Addr{b.RailAddr(to, rail), b.RailAddr6(to, rail)} {
					c, err := b.Dial(from, netip.AddrPortFrom(addr, port), limit)
					if err != nil {
						t.Fatalf("h%d to h%d: %v", from, to, err)
					}
					_ = c.Close()
				}
			}
		}
	}
	if _, err := b.Dial(0, netip.MustParseAddrPort("192.0.2.1:80"), limit); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("a way out: %v", err)
	}
}

// Two beds have the same names and addresses, and nothing to do with each other.
func TestTwoBeds(t *testing.T) {
	t.Parallel()
	one, two := New(t, 1), New(t, 2)
	port := listen(t, one, 0)
	if _, err := two.Dial(1, netip.AddrPortFrom(two.Addr(0), port), limit); err == nil {
		t.Error("one bed reached the other")
	}
}

// Each host has its name, all hosts' names, and processes of its own.
func TestHost(t *testing.T) {
	t.Parallel()
	b := New(t, 2)
	for i := range 2 {
		got := output(t, b.Command(i, "sh", "-c", `hostname; getent hosts h1 h1-6 | awk '{print $1}'; ls -d /proc/[0-9]* | wc -l; ls -A /dev/shm /run | grep -vc mount`))
		// The init, the shell, and what the pipeline is made of; two titles and an
		// empty line.
		want := fmt.Sprintf("h%d\n%v\n%v\n", i, b.Addr(1), b.Addr6(1))
		if !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q …", got, want)
		}
		var processes, files int
		if _, err := fmt.Sscan(strings.TrimPrefix(got, want), &processes, &files); err != nil || processes > 5 || files != 3 {
			t.Errorf("processes and files in %q (%v)", got, err)
		}
	}
}

// A hidden folder is empty in one host, and all there in the other.
func TestHide(t *testing.T) {
	t.Parallel()
	b := New(t, 2)
	dir := t.TempDir()
	output(t, b.Command(0, "touch", dir+"/seen"))
	b.Hide(1, dir)
	output(t, b.Command(1, "touch", dir+"/hidden"))
	for i, want := range []string{"seen\n", "hidden\n"} {
		if got := output(t, b.Command(i, "ls", dir)); got != want {
			t.Errorf("h%d: %q", i, got)
		}
	}
}

// A host that is killed is gone for the others at once, with its programs.
func TestKill(t *testing.T) {
	t.Parallel()
	b := New(t, 2)
	port := listen(t, b, 0)
	c, err := b.Dial(0, netip.AddrPortFrom(b.Addr(0), port), limit)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	cmd := b.Command(1, "sleep", "infinity")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.Kill(1)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "killed") && !strings.Contains(err.Error(), "127") {
			t.Errorf("a program of a dead host ended with %v", err)
		}
	case <-time.After(limit):
		t.Fatal("a program outlived its host")
	}
	out, err := b.Command(1, "true").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the host is dead") {
		t.Errorf("a program in a dead host: %v, %s", err, out)
	}
	output(t, b.Command(0, "true"))
}
