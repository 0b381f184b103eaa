package tcp

import (
	"testing"

	"github.com/verbena-mpi/verbena/internal/secret"
)

func TestReaches(t *testing.T) {
	d := opened(t, Config{Secret: secret.New()}, accepts)
	if !Reaches(d.addr()) {
		t.Error("a device of this host isn't reached")
	}
	if Reaches(nil) || Reaches([]byte("vshm1 and more of another device's address, of any length")) {
		t.Error("what is no tcp device's address is reached")
	}
	for _, c := range []struct {
		mine, theirs string
		want         bool
	}{
		{"eth0 10.0.0.1/24", "eth0 192.0.2.1/24", true},
		{"eth0 10.0.0.1/24", "eth0 fd00::1/64", false},
		{"eth0 10.0.0.1/24 fd01::1/64", "eth0 fd00::1/64", true},
		{"lo 127.0.0.1/8 ::1/128", "eth0 10.0.0.2/24", false},
		{"eth0 10.0.0.1/24", "lo 127.0.0.1/8", false},
		{"eth0 10.0.0.1/24\neth1 fd01::1/64 !down", "eth0 fd00::1/64", false},
	} {
		_, peer, err := chosen(c.theirs, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := familiesOf(machine(c.mine)).meet(&peer); got != c.want {
			t.Errorf("%q meets %q: %v, expected %v", c.mine, c.theirs, got, c.want)
		}
	}
}
