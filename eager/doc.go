// Package eager sends small messages: header and payload in one send. Where they
// fit the inline size that the queue pair was granted they go inline, and their
// memory is free at once; else they go from a preregistered bounce buffer. What a
// full send queue doesn't take waits in a list, in order, and is tried again at
// each poll, as does what finds no credit (credit.go). The same endpoints carry the rendezvous protocol's control messages.
//
// Sends are unsignaled but for one in half a queue, so that the send CQ is polled
// once per that many messages and not once per message.
//
// Everything here runs under the progress engine's lock.
package eager
