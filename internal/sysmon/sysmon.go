// Package sysmon keeps the Go runtime's monitor thread out of the way of a rank
// that has one core to itself.
//
// The monitor wakes up every 20 µs (70 with the kernel's timer slack) for the first
// milliseconds of a process, and again each time it has found something to do. On
// the rank's only core each of these wake-ups interrupts the message that is under
// way: one in a thousand short messages then takes 11 µs instead of 0.15.
package sysmon
