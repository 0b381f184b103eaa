// Package peers has what the library is compared with: two small MPI programs
// that do what osu/latency and osu/bw do, to be built with the MPI
// implementations at hand. The command compare builds and runs them beside the
// library's own, probe measures how far apart two CPUs are.
package peers

import "embed"

// Programs holds the C sources of the MPI programs, in the folder mpi.
//
//go:embed mpi/*.c mpi/*.h
var Programs embed.FS
