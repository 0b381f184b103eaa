//go:build linux

package tcp

import (
	"context"
	"sync"
)

// pairings tell the goroutines that make connections which queue pairs there are.
type pairings struct {
	mu      sync.Mutex
	all     map[labels]pairing
	changed chan struct{} // closed with the next change; nil: nobody waits for one
}

// pairing is a queue pair, as they know it.
type pairing struct {
	peer   deviceID
	ended  bool
	failed bool
}

func (k *pairings) init() {
	k.all = make(map[labels]pairing)
}

// set says that there is a queue pair, or that it has ended, or failed.
func (k *pairings) set(l labels, p pairing) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[l] = p
	if k.changed != nil {
		close(k.changed)
		k.changed = nil
	}
}

// admit answers a peer. One that is early waits for the Connect.
func (k *pairings) admit(ctx context.Context, w want) answer {
	for {
		k.mu.Lock()
		p, ok := k.all[labels{w.local, w.remote}]
		if !ok && k.changed == nil {
			k.changed = make(chan struct{})
		}
		changed := k.changed
		k.mu.Unlock()
		switch {
		case ok && p.peer != w.from:
			return answerDevice
		case ok && p.ended:
			return answerClosing
		case ok && p.failed:
			return answerFailed
		case ok:
			return answerOK
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return answerLabel
		}
	}
}
