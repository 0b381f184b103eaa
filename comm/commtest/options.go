package commtest

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/verbena-mpi/verbena/comm"
)

// Option changes how ranks are run.
type Option func(*options)

type options struct {
	config comm.Config
	device string
	hosts  int
	limit  time.Duration
}

// Config gives the ranks settings, as comm.Run would.
func Config(c comm.Config) Option { return func(o *options) { o.config = c } }

// Device has ranks that are goroutines talk over a device (comm.Devices names them)
// instead of the one that they would choose.
func Device(name string) Option { return func(o *options) { o.device = name } }

// Hosts has ranks that are goroutines believe to be on n hosts, as many on each and the
// first ones on the first: they talk through shared memory with those of their own host,
// and with the others as hosts do. It doesn't go with Device.
func Hosts(n int) Option { return func(o *options) { o.hosts = n } }

// Limit is how long the ranks may take: a minute if it isn't said. If go test's own
// limit (-timeout) comes sooner, the ranks' is a little before that. In a bubble of
// testing/synctest it is of that bubble's time, and an hour if it isn't said.
func Limit(d time.Duration) Option { return func(o *options) { o.limit = d } }

const (
	defaultLimit = time.Minute
	bubbleLimit  = time.Hour

	// What is kept of the test's own time for saying what went wrong.
	marginPart = 10 // one part in so many
	marginMost = 5 * time.Second
)

// inprocess is the device that needs neither system calls nor a clock.
const inprocess = "inproc"

// choose reads the options and fills in what they leave open.
func choose(t testing.TB, opts []Option) options {
	t.Helper()
	var o options
	for _, f := range opts {
		f(&o)
	}
	bubble := inBubble()
	switch {
	case o.limit < 0:
		t.Fatalf("commtest: a limit of %v", o.limit)
	case o.limit == 0 && bubble:
		o.limit = bubbleLimit
	case o.limit == 0:
		o.limit = defaultLimit
	}
	if o.hosts != 0 {
		switch {
		case o.hosts < 0:
			t.Fatalf("commtest: %d hosts", o.hosts)
		case o.device != "":
			t.Fatalf("commtest: device %s between %d hosts: ranks choose their devices by host", o.device, o.hosts)
		case bubble:
			t.Fatal("commtest: hosts in a bubble of testing/synctest")
		}
	}
	if bubble {
		if o.device == "" {
			o.device = inprocess
		}
		if o.device != inprocess {
			t.Fatalf("commtest: device %s in a bubble of testing/synctest: only %s waits there as it must", o.device, inprocess)
		}
	} else if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok { // which would panic in a bubble
		if end, ok := d.Deadline(); ok {
			left := time.Until(end)
			o.limit = max(min(o.limit, left-min(left/marginPart, marginMost)-afterLimit), time.Millisecond)
		}
	}
	strict(&o.config)
	return o
}

// hostOf says for each of n ranks on which host it is to believe to be.
func (o options) hostOf(n int) []int {
	if o.hosts == 0 {
		return nil
	}
	hosts := make([]int, n)
	for r := range hosts {
		hosts[r] = r * o.hosts / n
	}
	return hosts
}

// strict turns on what comm can check of a program.
func strict(c *comm.Config) { c.CheckTypes = true }

// inBubble says whether the goroutine is in a bubble of testing/synctest: the first
// line of its stack says so.
func inBubble() bool {
	var b [256]byte
	head, _, _ := strings.Cut(string(b[:runtime.Stack(b[:], false)]), "\n")
	return strings.Contains(head, "synctest bubble")
}
