// Package conformance has the rules of point-to-point communication as one table:
// behaviours × devices × orders × sizes × receive queues. It has tests only.
//
// A behaviour is what a sender and a receiver do, and what each must see
// (behaviours_*_test.go). It is run at many places: a place is a device with a way of
// reading large messages, whether the receive is posted before its message comes, a
// size at the edge of a protocol, and the kind of receive queue. Of the places all
// pairs of values are run for each behaviour, or, with VERBENA_LONG=1, all places. A test's
// name says which:
//
//	go test ./internal/conformance -run 'TestConformance/Truncation/shm-copy/posted/eager\+1/srq'
//
// TestBetweenHosts runs them all between processes on two virtual hosts.
//
// A new device joins in one line of devices (places_test.go).
package conformance
