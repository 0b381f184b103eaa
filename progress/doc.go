// Package progress is the engine that moves messages: it polls completion
// queues, gives each completion to the handler that was registered for its
// queue, and decides how to wait when there is nothing to do. It knows no
// protocol.
//
// # Driving
//
// No thread of its own moves messages while the program waits: the goroutine
// that waits polls. That is a role, held by one goroutine at a time (the
// driver); others that wait park, and the driver that leaves hands the role to
// one of them. Engine.Lock guards the engine's state, the devices' calls and the
// state of the protocols above; it is held for one poll and a glance (a quarter of a
// microsecond, once in a wait), and never across a spin.
//
// # Lazy, in three ways
//
// Send completion queues are polled only when a protocol asked for it
// (Engine.NeedSends), or drains one itself (Engine.Drain) because a send queue
// runs low. Queues that stay quiet beside busy ones are polled less and less
// often. A driver that finds nothing for long stops polling and sleeps. All three
// are counted (Counters).
//
// # Sleeping
//
// The wake descriptors of all devices sit in one epoll set that Go's poller
// doesn't know, so that polling costs what polling memory costs. To sleep, that
// set is added to another one, which Go's poller watches and which is otherwise
// empty (sleep_linux.go). While nobody drives, a background goroutine sleeps in
// the same way for solicited events only, so that large messages move while the
// program computes and small ones cost no wake-up (background.go).
package progress
