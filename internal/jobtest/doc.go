// Package jobtest tests whole jobs: it builds the launcher, the benchmarks and
// a program of its own (ranks), runs them as a user would, and looks at what
// can only be seen from outside: exit statuses, times, processes and files that
// are left. It has tests only.
//
// The full form, with -long or VERBENA_LONG=1, takes minutes.
package jobtest
