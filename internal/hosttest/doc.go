// Package hosttest tests jobs on several hosts: it builds the launcher, the
// benchmarks and examples, starts them on virtual hosts in each way that
// docs/HOSTS.md tells a user, and then breaks things. It has tests only.
//
// The full form, with -long or VERBENA_LONG=1, takes minutes.
package hosttest
