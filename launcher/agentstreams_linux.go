package launcher

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"time"

	"github.com/hashicorp/yamux"
)

// specLimit is how long the supervisor may take to say what to do.
const specLimit = 30 * time.Second

// listen waits for the first stream, and starts the goroutines that read what
// comes.
func (a *agent) listen() error {
	type first struct {
		st  *yamux.Stream
		err error
	}
	c := make(chan first, 1)
	go func() {
		st, err := a.session.AcceptStream()
		c <- first{st, err}
	}()
	var f first
	select {
	case f = <-c:
	case <-time.After(specLimit):
		return fmt.Errorf("nobody has said within %v what to do", specLimit)
	}
	if f.err != nil {
		return f.err
	}
	a.answers = gob.NewEncoder(f.st)
	go func() {
		defer close(a.said)
		dec := gob.NewDecoder(bufio.NewReader(f.st))
		for {
			var m toAgent
			if dec.Decode(&m) != nil {
				return
			}
			a.said <- m
		}
	}()
	go a.accept()
	return nil
}

// accept takes the streams of ranks.
func (a *agent) accept() {
	for {
		st, kind, id, err := acceptStream(a.session)
		if err != nil {
			_ = a.session.Close()
			return
		}
		a.mu.Lock()
		if a.streams[kind] == nil {
			a.streams[kind] = map[int]*yamux.Stream{}
		}
		a.streams[kind][id] = st
		close(a.came)
		a.came = make(chan struct{})
		a.mu.Unlock()
	}
}

// stream waits for a stream that the supervisor has opened.
func (a *agent) stream(kind streamKind, id int) (*yamux.Stream, error) {
	limit := time.NewTimer(headLimit)
	defer limit.Stop()
	for {
		a.mu.Lock()
		st, came := a.streams[kind][id], a.came
		delete(a.streams[kind], id)
		a.mu.Unlock()
		if st != nil {
			return st, nil
		}
		select {
		case <-came:
		case <-a.session.CloseChan():
			return nil, yamux.ErrSessionShutdown
		case <-limit.C:
			return nil, fmt.Errorf("the stream %d of %d didn't come within %v", kind, id, headLimit)
		}
	}
}
