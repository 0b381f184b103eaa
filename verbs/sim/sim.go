// Package sim is a device in one process, with virtual time and the literal
// rules of verbs. It is for tests of what lies above devices, and for studies
// of more ranks than there are processors.
//
// A Network is made with one seed. Devices are attached to it, and nothing
// happens on it but by Step or Advance, which run the next event of a queue
// and set the clock to its time. There are no goroutines and no real clock:
// the same calls with the same seed give the same trace. A lock makes the
// calls safe from several goroutines, though their order then decides.
//
// Where software devices are kind, this one is as hard as an adapter:
//
//   - The memory of a send is read when its packet leaves, which is after
//     PostSend, and again for each retry. Only inline memory is copied before.
//   - A request occupies the send queue until a signaled completion that covers
//     it has been polled.
//   - Every message takes a slot. Without one the sender is told so, waits for
//     the RNR timer and goes back to that message, and counts "rnr".
//   - Data of a read, and of a send that is not inline, must lie in registered
//     memory.
//   - A registration does not keep its memory alive. Once that is collected, what
//     would reach some other object by an adapter is refused here.
//   - Inline memory is granted as it is by rxe: 32 bytes (two gathers of 16) or
//     what was asked, at most MaxInline. Asking more is not an error here, as
//     it is there: MaxInline is granted.
//   - Reads read the peer's memory chunk by chunk, as the chunks leave. Keys,
//     rights and bounds are checked for each chunk.
//   - An error moves the queue pairs of both ends to the error state and
//     flushes what is posted. That includes a read that is refused.
//   - A slot's memory is spoiled when the slot is reposted.
//   - A completion queue that overruns puts its queue pairs in error.
package sim

import (
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// Config describes a network. The zero value is good.
type Config struct {
	Seed   uint64
	Link   Link         // of every two devices that SetLink doesn't name; zero: DefaultLink
	Device DeviceConfig // of the devices that are made without one
	Trace  func(Entry)  // is called for what happens; it must not call back
}

// Link is one direction between two devices.
type Link struct {
	Delay     time.Duration // from departure to arrival
	Jitter    time.Duration // up to this is added at random; packets don't overtake
	Bandwidth int64         // bytes per second; 0: unlimited
	Loss      float64       // the part of the requests and replies that is lost, 0 to 1
}

// DefaultLink is 1 µs and 10 GB/s.
var DefaultLink = Link{Delay: time.Microsecond, Bandwidth: 10e9}

// DeviceConfig is the limits and timers of a device. Zero fields have the
// values given here.
type DeviceConfig struct {
	MaxInline int   // bytes; 512
	MaxSend   int   // bytes; 1 MiB
	MaxRead   int64 // bytes; 1 GiB
	ReadChunk int   // bytes of a read that leave at once; 16 KiB
	ReadsOpen int   // reads in flight of one queue pair; 16

	RNRTimer   time.Duration // wait of a sender that found no slot; 10 µs
	RNRRetries int           // after so many in a row StatusRetry; 0: never

	RetryTimer time.Duration // wait before what was lost is sent again; 500 µs
	Retries    int           // after so many without an answer StatusRetry; 7

	ConnectTimer   time.Duration // between two attempts to connect; 1 ms
	ConnectRetries int           // after so many StatusRefused; 500

	RegisterCall time.Duration // cost of each Register; 1 µs
	RegisterPage time.Duration // and of each 4 KiB of it; 50 ns

	// NoRegistration makes a device like shm: Attr.Registration is false,
	// Register costs nothing, and local memory need not be registered.
	NoRegistration bool
}

func (c DeviceConfig) withDefaults() DeviceConfig {
	setDefault(&c.MaxInline, 512)
	setDefault(&c.MaxSend, 1<<20)
	setDefault(&c.MaxRead, 1<<30)
	setDefault(&c.ReadChunk, 16<<10)
	setDefault(&c.ReadsOpen, 16)
	setDefault(&c.RNRTimer, 10*time.Microsecond)
	setDefault(&c.RetryTimer, 500*time.Microsecond)
	setDefault(&c.Retries, 7)
	setDefault(&c.ConnectTimer, time.Millisecond)
	setDefault(&c.ConnectRetries, 500)
	setDefault(&c.RegisterCall, time.Microsecond)
	setDefault(&c.RegisterPage, 50*time.Nanosecond)
	if c.NoRegistration {
		c.RegisterCall, c.RegisterPage = 0, 0
	}
	return c
}

func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

var (
	_ verbs.Device  = (*Device)(nil)
	_ verbs.Counted = (*Device)(nil)
	_ verbs.QP      = (*queuePair)(nil)
	_ verbs.CQ      = (*completionQueue)(nil)
	_ verbs.RQ      = (*recvQueue)(nil)
	_ verbs.MR      = (*region)(nil)
)
