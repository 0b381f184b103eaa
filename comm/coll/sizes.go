package coll

// Where a call takes another algorithm: lengths in bytes, and numbers of ranks. Below,
// the number of messages that follow each other counts; above, the bytes that each rank
// moves. All ranks decide by the same numbers, or the call is in error.
const (
	// A broadcast of as much goes to as many ranks by a scatter and a ring.
	bcastRing      = 128 << 10
	bcastRingRanks = 4

	// A reduction of as much is by halving.
	reduceHalving = 16 << 10

	// Blocks of as much are gathered and scattered directly, and so they are for few
	// ranks.
	gatherDirect      = 4 << 10
	gatherDirectRanks = 4

	// As much in all is gathered to all by a ring.
	allgatherRing = 64 << 10

	// Blocks of as much are exchanged directly, and so they are by few ranks.
	alltoallDirect      = 512
	alltoallDirectRanks = 5

	// Blocks of as much are reduced where they belong; smaller ones are scattered from
	// rank 0.
	reduceScatterDirect = 4 << 10
)
