package meet

import (
	"container/list"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// strangers are the connections that have not proved anything yet. There is room for
// all ranks at once and for some more; when it is full, the one that has been here
// longest goes, since a rank needs little time.
type strangers struct {
	mu    sync.Mutex
	most  int
	open  *list.List // of net.Conn, in their order
	where map[net.Conn]*list.Element
	none  int    // connections that came to nothing
	last  string // how the last one did that was more than a visit
	over  bool
}

// spareRoom is for strangers beside the ranks, which have two connections each.
const spareRoom = 64

func newStrangers(size int) *strangers {
	return &strangers{most: 2*size + spareRoom, open: list.New(), where: map[net.Conn]*list.Element{}}
}

// admit lets a connection in.
func (s *strangers) admit(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		_ = c.Close()
		return
	}
	if s.open.Len() >= s.most {
		oldest := s.open.Front()
		_ = oldest.Value.(net.Conn).Close()
		delete(s.where, oldest.Value.(net.Conn))
		s.open.Remove(oldest)
	}
	s.where[c] = s.open.PushBack(c)
}

// leave takes one out that has proved itself, or failed.
func (s *strangers) leave(c net.Conn, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.where[c]; e != nil {
		delete(s.where, c)
		s.open.Remove(e)
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		s.none++
		if s.last != "" && errors.Is(err, io.EOF) {
			return // the one that said more is of more use
		}
		s.last = fmt.Sprintf("from %s: %v", c.RemoteAddr(), err)
	}
}

// report is for those who wonder where the ranks are.
func (s *strangers) report() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.none == 0 {
		return ""
	}
	return fmt.Sprintf("; connections that came to nothing: %d, one %s", s.none, s.last)
}

// shut ends them all.
func (s *strangers) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for c := range s.where {
		_ = c.Close()
	}
}
