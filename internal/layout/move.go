package layout

// Pack copies the elements of buf, of size bytes each, into msg, in the message's order,
// and returns how many bytes that was: fewer than the whole message if msg is shorter.
// buf has at least the extent.
func (l *Layout) Pack(msg, buf []byte, size int) int {
	msg = msg[:min(len(msg), l.elements*size)]
	if l.runs == nil {
		l.pack(msg, buf, l.start*size, 0, size)
		return len(msg)
	}
	n := 0
	for _, r := range l.runs {
		n += gather(msg[n:], buf, r.at*size, r.n*size)
		if n == len(msg) {
			break
		}
	}
	return n
}

// Unpack copies a message, or the beginning of one, to the places of its elements in
// buf, and returns how many bytes that was. If the message is longer than the layout, the
// rest of it is left out. Of buf nothing else is written: not what lies between
// the elements, nor what the message doesn't reach.
func (l *Layout) Unpack(buf, msg []byte, size int) int {
	msg = msg[:min(len(msg), l.elements*size)]
	if l.runs == nil {
		l.unpack(buf, msg, l.start*size, 0, size)
		return len(msg)
	}
	n := 0
	for _, r := range l.runs {
		n += scatter(buf, msg[n:], r.at*size, r.n*size)
		if n == len(msg) {
			break
		}
	}
	return n
}

// pack packs what lies in the loops from the d-th inwards, until msg is full, and
// returns how much it was.
func (l *Layout) pack(msg, buf []byte, at, d, size int) int {
	block := l.block * size
	switch len(l.dims) - d {
	case 0:
		return gather(msg, buf, at, block)
	case 1:
		inner := l.dims[d]
		msg = msg[:min(len(msg), inner.count*block)]
		gatherRow(msg, buf, at, block, inner.stride*size)
		return len(msg)
	}
	n := 0
	for range l.dims[d].count {
		if n += l.pack(msg[n:], buf, at, d+1, size); n == len(msg) {
			break
		}
		at += l.dims[d].stride * size
	}
	return n
}

// unpack is pack, the other way.
func (l *Layout) unpack(buf, msg []byte, at, d, size int) int {
	block := l.block * size
	switch len(l.dims) - d {
	case 0:
		return scatter(buf, msg, at, block)
	case 1:
		inner := l.dims[d]
		msg = msg[:min(len(msg), inner.count*block)]
		scatterRow(buf, msg, at, block, inner.stride*size)
		return len(msg)
	}
	n := 0
	for range l.dims[d].count {
		if n += l.unpack(buf, msg[n:], at, d+1, size); n == len(msg) {
			break
		}
		at += l.dims[d].stride * size
	}
	return n
}

func gather(msg, buf []byte, at, n int) int  { return copy(msg, buf[at:at+n]) }
func scatter(buf, msg []byte, at, n int) int { return copy(buf[at:at+n], msg) }

// gatherRow fills msg from blocks of bytes, so many bytes apart. The blocks of one
// number, which columns are made of, are moved without a call for each.
func gatherRow(msg, buf []byte, at, block, stride int) {
	i := 0
	switch block {
	case 4:
		for ; i+4 <= len(msg); i += 4 {
			*(*[4]byte)(msg[i:]) = *(*[4]byte)(buf[at:])
			at += stride
		}
	case 8:
		for ; i+8 <= len(msg); i += 8 {
			*(*[8]byte)(msg[i:]) = *(*[8]byte)(buf[at:])
			at += stride
		}
	case 16:
		for ; i+16 <= len(msg); i += 16 {
			*(*[16]byte)(msg[i:]) = *(*[16]byte)(buf[at:])
			at += stride
		}
	}
	for i < len(msg) {
		i += gather(msg[i:], buf, at, block)
		at += stride
	}
}

// scatterRow is gatherRow, the other way.
func scatterRow(buf, msg []byte, at, block, stride int) {
	i := 0
	switch block {
	case 4:
		for ; i+4 <= len(msg); i += 4 {
			*(*[4]byte)(buf[at:]) = *(*[4]byte)(msg[i:])
			at += stride
		}
	case 8:
		for ; i+8 <= len(msg); i += 8 {
			*(*[8]byte)(buf[at:]) = *(*[8]byte)(msg[i:])
			at += stride
		}
	case 16:
		for ; i+16 <= len(msg); i += 16 {
			*(*[16]byte)(buf[at:]) = *(*[16]byte)(msg[i:])
			at += stride
		}
	}
	for i < len(msg) {
		i += scatter(buf, msg[i:], at, block)
		at += stride
	}
}
