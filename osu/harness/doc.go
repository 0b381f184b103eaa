// Package harness is what the benchmarks under osu/ have in common: options,
// the sweep over message sizes, timed loops, buffers with guard bytes,
// validation, and tables that parsers of the C suite's output accept.
//
// A benchmark brings a Spec, which says what it is called and what it
// measures, and a Body, which does one iteration; Run, or RunPairs where ranks
// form pairs, does the rest. RunOnce is for those without a table. Options,
// defaults, output and semantics are those of the OSU micro-benchmarks 7.4,
// with the version field of the title saying what was measured here.
//
// Where only an average is asked for, one pair of clock readings stands around
// the whole timed loop. Where a distribution is asked for (-z), the clock is
// read before each iteration, so that minimum and maximum are those of whole
// iterations; what a reading costs is measured and printed with --clock. Of several
// pairs, the distribution is that of rank 0's.
//
// Collectives (RunCollective) are timed one by one on every rank, with a barrier in
// between; the mean over all ranks is printed, and minimum and maximum with -f.
package harness
