package match

import "unsafe"

// A node is found in lists that hold nothing else, and leads to what it is the
// first field of: a pointer back would take eight bytes of each message that
// waits.

// recvOf returns the receive that n is the node of.
func recvOf[R any](n *node) *Recv[R] { return (*Recv[R])(unsafe.Pointer(n)) }

// msgOf returns the message that n is the node of, under its own key.
func msgOf[M any](n *node) *Msg[M] { return (*Msg[M])(unsafe.Pointer(n)) }

// recordOf returns the record whose message n is the node of, under its own
// key. Bind has checked that the record begins with it.
func recordOf[M any](n *node) *M { return (*M)(unsafe.Pointer(n)) }

// nodeOf is the other way round.
func nodeOf[M any](record *M) *node { return (*node)(unsafe.Pointer(record)) }

// wild returns the node of a wildcard key that n is the first field of.
func (n *node) wild() *wildNode { return (*wildNode)(unsafe.Pointer(n)) }

// first reports whether m is the first field of record.
func first[M any](record *M, m *Msg[M]) bool {
	return unsafe.Pointer(record) == unsafe.Pointer(m)
}
