package match

// node is one receive or message in an index. Nodes of one key form a list in
// order of seq, and the first of them, the head, stands for the list in its
// hash bucket. A node is the first field of what it stands for.
type node struct {
	key  Key
	form form   // the key's
	kind uint8  // its owner's: see Msg.SetLabel
	size uint16 // its owner's
	seq  Seq

	next  *node // of the same key
	prev  *node // of the same key; a head's is the last; nil out of an index
	chain *node // a head's only: the next head in its bucket
}

func (n *node) queued() bool { return n.prev != nil }

// wildNode is a message's node under a wildcard key that accepts it.
type wildNode struct {
	node
	message *node     // under its own key
	more    *wildNode // of the same message, of another form
}

// message returns the node of a message, whichever of its nodes n is, under
// its own key.
func (n *node) message() *node {
	if n.form == exact {
		return n
	}
	return n.wild().message
}
