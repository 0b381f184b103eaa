// Package match pairs incoming messages with posted receives by MPI's rules:
// a message goes to the earliest posted receive that accepts it, a receive
// takes the earliest arrived message that it accepts, and either side waits
// in a queue when there is no partner yet.
//
// A [Table] is a plain data structure without locks, clocks or goroutines;
// its caller serialises all calls. The links are in a [Recv] or [Msg] that the
// caller embeds in its request and in its message record, so queueing
// allocates nothing but a growing hash table's buckets.
//
// # Cost
//
// Every receive has one key, (context, source, tag), in which source and tag
// may be wildcards. A receive that is the only one, as a blocking one is in
// most programs, is just remembered. Otherwise posted receives are kept in
// lists by key: an arrival looks
// in the list of its own key, and in those of the three wildcard keys that
// accept it only if receives of that form are posted at all. Unexpected
// messages are kept in the list of their own key and, from the first time that
// a receive or a probe of a wildcard form meets unexpected messages, in the
// list of that form's key also. All operations therefore take constant time,
// with any number of receives and messages queued, except for
// [Table.PutBack], which steps over the earlier messages of the same lists,
// the first use of a wildcard form, and the iterators.
//
// # Memory
//
// A Recv takes 56 bytes, as does a Msg, and [WildSize] more for each of the
// three forms of wildcards with which a program receives unexpected messages.
// Lists are found in a hash table of 8 bytes a bucket, with one to two times as
// many buckets as there are lists when it has grown. It shrinks once it has been less than 1/8 full for as
// many new lists as it has buckets; so a program that queues and drains in
// turns doesn't resize in each turn, and after a burst of n the table is small
// again within some 4n further receives or messages. [Table.Trim] does it at
// once, for a caller that knows that it is idle.
package match
