// Package testbed makes virtual hosts for tests: on one machine, within one
// test, gone at its end.
//
//	               the machine, where the test runs
//	┌─────────────┐      ┌─────────────┐      ┌─────────────┐
//	│ h0          │      │ h1          │      │ h2          │   a host is an init process (a shell)
//	│ /proc /run  │      │ /proc /run  │      │ /proc /run  │   with its own net, uts, ipc, pid, mount
//	│ /dev/shm    │      │ /dev/shm    │      │ /dev/shm    │   namespaces; all files but these are
//	│ eth0   eth1 │      │ eth0   eth1 │      │ eth0   eth1 │   the machine's own
//	└──┼──────┼───┘      └──┼──────┼───┘      └──┼──────┼───┘
//	┌──p0─────│─────────────p1─────│─────────────p2─────│───┐
//	│       br0             │      │               │     │   │   the switch: a net namespace that
//	│         q0────────────│──────q1──────────────│─────q2  │   holds a bridge per cable and knows
//	│                      br1                               │   no way out
//	└────────────────────────────────────────────────────────┘
//
// Hosts have names h0, h1, … with IPv4 addresses 10.77.2.10, .11, …, and names
// h0-6, h1-6, … with IPv6 addresses fd77:2::10, ::11, …; a second cable (Rails)
// has 10.77.3.10 and fd77:3::10. Each bed has namespaces of its own, so that
// many may exist at once, with equal names and addresses.
//
// A host ends when its init is killed, and with it all that runs there. The init
// also ends when its standard input does: when the test process dies, however it
// dies, nothing is left.
//
// Programs that a test starts inside a host (Command) are children of a helper,
// the test binary itself under another argv[0], which enters the namespaces,
// passes signals on and ends as the program did.
//
// Need says what a test needs, and skips it, with the reason, where that can't
// be had. All steps have limits; when one strikes, or a test fails, the logs of
// the daemons are in the test's output.
package testbed
