// Package match pairs incoming messages with posted receives by MPI's rules:
// a message goes to the earliest posted receive that accepts it, a receive
// takes the earliest arrived message that it accepts, and either side waits
// in a queue when there is no partner yet.
//
// A [Table] is a plain data structure without locks, clocks or goroutines;
// its caller serialises all calls. It stores nothing of its own per receive
// or message: the links are in a [Recv] or [Msg] that the caller embeds in
// its request and in its message record, so queueing allocates only when the
// hash table behind it grows.
//
// # Cost
//
// Every receive has one key, (context, source, tag), in which source and tag
// may be wildcards. Posted receives are kept in bins by key: an arrival looks
// in the bin of its own key, and in those of the three wildcard keys that
// accept it only if receives of that form are posted at all. Unexpected
// messages are kept in the bin of their own key and, from the first time that
// a receive or a probe of a wildcard form meets unexpected messages, in the
// bin of that form also. All operations therefore take constant time, with
// any number of receives and messages queued; the exceptions are
// [Table.PutBack] (as many steps as there are earlier messages in the bins),
// the one-time indexing of a wildcard form, and the iterators.
//
// # Memory
//
// A bin exists while something is queued in it and takes 32 bytes. The table
// of bins doubles when it is 3/4 full and halves when it has been less than
// 1/8 full for as many removals as it has bins, so that a program that queues
// and drains in turns doesn't pay for resizing in each turn; after a burst of
// n the table is small again within some 4n further messages. [Table.Trim]
// does it at once, for a caller that knows that it is idle.
package match
