package testbed

import (
	"strings"
	"testing"
)

// Every host runs commands on every other.
func TestSSH(t *testing.T) {
	t.Parallel()
	b := New(t, 3)
	b.SSH()
	for _, tt := range []struct {
		from int
		to   string
		want string
	}{{0, "h1", "h1"}, {0, "h0", "h0"}, {1, "h2", "h2"}, {2, "h0-6", "h0"}, {1, b.Addr(0).String(), "h0"}, {0, b.Addr6(1).String(), "h1"}} {
		cmd := b.Command(tt.from, "ssh", tt.to, "hostname; cat")
		cmd.Stdin = strings.NewReader("echo")
		if got := output(t, cmd); got != tt.want+"\necho" {
			t.Errorf("h%d to %s: %q", tt.from, tt.to, got)
		}
	}
	b.Kill(2)
	if out, err := b.Command(0, "ssh", "-o", "ConnectTimeout=1", "h2", "true").CombinedOutput(); err == nil || !strings.Contains(string(out), "h2") {
		t.Errorf("a dead host: %v: %s", err, out)
	}
}
