package verbstest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
	"github.com/verbena-mpi/verbena/verbs/verbstest"
)

// faultVariable makes a run of this test binary use a device with a fault.
const faultVariable = "VERBSTEST_FAULT"

// open makes simulated devices, spoiled by f unless it is nil. What a fault keeps from
// happening is not waited for long.
func open(f *fault) verbstest.Harness {
	var limit time.Duration
	if f != nil {
		limit = 100 * time.Millisecond
	}
	return verbstest.Harness{
		Limit: limit,
		Open: func(_ testing.TB, n int) verbstest.Net {
			nw := sim.New(sim.Config{})
			net := verbstest.Net{
				Step:  func() { nw.Step() },
				Woken: func(d verbs.Device) bool { return d.(*faultyDevice).woken() },
			}
			for range n {
				net.Devices = append(net.Devices, &faultyDevice{Device: nw.NewDevice(), fault: f})
			}
			return net
		},
	}
}

// TestDevice runs the suite on the device that faultVariable names. The
// wrapping itself must do no harm.
func TestDevice(t *testing.T) {
	name := os.Getenv(faultVariable)
	f := faults[name]
	if f == nil && name != "" {
		t.Fatalf("no fault is named %q", name)
	}
	verbstest.Run(t, open(f))
}

// Each fault is found by the tests that it is listed with, for the reason
// given.
func TestFaultsAreFound(t *testing.T) {
	if os.Getenv(faultVariable) != "" {
		t.Skip("this is the run with a fault")
	}
	for name, f := range faults {
		for test, reason := range f.found {
			t.Run(name+"/"+test, func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command(os.Args[0], "-test.run=^TestDevice$/^"+test+"$", "-test.timeout=60s")
				cmd.Env = append(os.Environ(), faultVariable+"="+name)
				out, err := cmd.CombinedOutput()
				if err == nil {
					t.Fatalf("the suite passes on a device that %s", f.what)
				}
				if !strings.Contains(string(out), reason) {
					t.Errorf("the output doesn't say %q:\n%s", reason, out)
				}
			})
		}
	}
}
