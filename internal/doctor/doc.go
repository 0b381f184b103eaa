// Package doctor looks for what would slow or stop a job on a machine, and between
// machines.
//
// A check is a small function that looks at a Machine and returns one Finding. All that a
// Machine is asked, a test can answer: files of /proc and /sys lie under a root, and what
// has to be tried is a function.
//
// Between hosts (Hosts), a helper runs on each, started as a job's agents are, and speaks
// over its standard input and output. Each helper listens on a port that the system
// chooses, and connects to all others: a firewall that would stop a job stops that.
// Helpers prove a secret to each other, so that what answers is a helper and not somebody
// in between.
package doctor
