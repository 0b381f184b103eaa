package launcher

import "bytes"

// maxLine is the longest line that is passed on in one piece.
const maxLine = 1 << 20

// lineBuffer cuts a stream into whole lines.
type lineBuffer struct {
	buf  []byte
	have int
	most int // 0: maxLine
}

// room is where the next bytes go: never empty.
func (l *lineBuffer) room() []byte {
	if l.most == 0 {
		l.most = maxLine
	}
	if l.have == len(l.buf) {
		l.buf = append(l.buf, make([]byte, max(16<<10, min(len(l.buf), l.most-len(l.buf))))...)
	}
	return l.buf[l.have:]
}

// took says that n bytes were put into room, and passes on what is complete:
// whole lines, or a piece of a line that is too long.
func (l *lineBuffer) took(n int, emit func([]byte)) {
	end := bytes.LastIndexByte(l.buf[l.have:l.have+n], '\n')
	from := l.have
	l.have += n
	switch {
	case end >= 0:
		end += from + 1
	case l.have >= l.most:
		end = l.have
	default:
		return
	}
	emit(l.buf[:end])
	l.have = copy(l.buf, l.buf[end:l.have])
}

// rest passes on a last line without a newline.
func (l *lineBuffer) rest(emit func([]byte)) {
	if l.have > 0 {
		emit(l.buf[:l.have])
		l.have = 0
	}
}
