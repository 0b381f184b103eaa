package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// handshake is how the two sides keep their order: it is no message, which would move
// others along.
type handshake struct {
	ready   *mark // the receive is posted
	sent    *mark // the message is on its way
	checked *mark // the sender has looked at what there is before the receive
	fail    *mark // a side has failed
}

// newHandshake makes one between goroutines or, in a folder that they share, between
// processes that give it the same name.
func newHandshake(dir, name string) *handshake {
	mark := func(what string) *mark {
		m := &mark{what: what, ch: make(chan struct{})}
		if dir != "" {
			m.file = filepath.Join(dir, name+"."+what)
		}
		return m
	}
	return &handshake{ready: mark("posted"), sent: mark("sent"), checked: mark("checked"), fail: mark("failed")}
}

// ended notes how a side ended: the other need not wait for it.
func (h *handshake) ended(side string, err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("%s: %w", side, err), h.fail.set())
}

var errOther = errors.New("the other side has failed")

// mark is something that happens once.
type mark struct {
	what string
	once sync.Once
	ch   chan struct{}
	file string // that is there when it has happened; "": ch is closed
}

// set may be called more than once.
func (m *mark) set() (err error) {
	m.once.Do(func() {
		close(m.ch)
		if m.file != "" {
			err = os.WriteFile(m.file, nil, 0o600)
		}
	})
	return err
}

// await waits until it has happened, or the other side has failed.
func (m *mark) await(ctx context.Context, fail *mark) error {
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for {
		var look <-chan time.Time
		if m.file != "" {
			look = tick.C
		}
		select {
		case <-m.ch:
			return nil
		case <-fail.ch:
			return errOther
		case <-ctx.Done():
			return fmt.Errorf("waiting for the mark %q: %w", m.what, ctx.Err())
		case <-look:
		}
		if there(m.file) {
			return nil
		}
		if there(fail.file) {
			return errOther
		}
	}
}

func there(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
