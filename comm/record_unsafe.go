package comm

import "unsafe"

// behindAt is where in a record the message ends.
const behindAt = unsafe.Sizeof(unexpected{})

func kindOf[B any]() recordKind {
	var r record[B]
	return recordKind{behind: int(unsafe.Sizeof(r.behind)), size: int(unsafe.Sizeof(r)), more: list[B]}
}

// list makes n records, one after the other in memory, which are linked.
func list[B any](n int) (first *unexpected) {
	all := make([]record[B], n)
	for i := range all {
		u := &all[n-1-i].unexpected
		u.msg.Bind(u)
		u.msg.Link(first)
		first = u
	}
	return first
}

// short is the body of a message that lies behind its record. It is the record's.
func (u *unexpected) short() []byte {
	_, n := u.msg.Label()
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(u), behindAt)), n)
}

// detail is what lies behind the record of a message that is no short one, or nil.
func (u *unexpected) detail() *detail {
	if u.kind() != detailed {
		return nil
	}
	return &(*record[detail])(unsafe.Pointer(u)).behind
}
