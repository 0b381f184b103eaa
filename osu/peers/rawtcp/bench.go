package main

import "time"

// conn is a bare socket. Its calls wait by trying again.
type conn interface {
	sendAll(p []byte) error
	recvAll(p []byte) error
	close()
}

// bench is one rank's side.
type bench struct {
	s      conn
	first  bool // this rank begins
	window int
	buf    []byte
}

// time runs rounds, and says how long those after the warm-up took.
func (b *bench) time(round func(size int) error, size, warmUp, iterations int) (time.Duration, error) {
	for range warmUp {
		if err := round(size); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	for range iterations {
		if err := round(size); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// pingPong passes a message to and fro.
func (b *bench) pingPong(size int) error {
	p := b.buf[:size]
	if b.first {
		if err := b.s.sendAll(p); err != nil {
			return err
		}
		return b.s.recvAll(p)
	}
	if err := b.s.recvAll(p); err != nil {
		return err
	}
	return b.s.sendAll(p)
}

// stream passes a window of messages one way, and a byte back.
func (b *bench) stream(size int) error {
	p, answer := b.buf[:size], b.buf[:1]
	for range b.window {
		var err error
		if b.first {
			err = b.s.sendAll(p)
		} else {
			err = b.s.recvAll(p)
		}
		if err != nil {
			return err
		}
	}
	if b.first {
		return b.s.recvAll(answer)
	}
	return b.s.sendAll(answer)
}
