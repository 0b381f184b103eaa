package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// nonceSize is that of the random number which makes each proof good for one
// connection only.
const (
	nonceSize = 32
	macSize   = sha256.Size
)

// Prove proves to each end of a connection that the other has the secret. All
// messages have one size, and nothing of the peer's is looked at but whether it is
// equal to what it must be:
//
//	initiator → acceptor  its nonce
//	acceptor → initiator  its nonce
//	initiator → acceptor  MAC(secret, "initiator", both nonces, context)
//	acceptor → initiator  MAC(secret, "acceptor", both nonces, context), if that was right
//
// So a stranger gets nothing out of the acceptor that he could test guesses on.
// The context binds the proof to what both must agree on: a version, a purpose, a
// job. The caller sets c's deadline, and closes c if there is an error, which wraps
// ErrDiffers where the peer's proof, or ours in the peer's eyes, is wrong.
func (s Secret) Prove(c io.ReadWriter, initiator bool, context []byte) error {
	if s.None() {
		return ErrNone
	}
	key := s.Derive("proof")
	var mine, theirs [nonceSize]byte
	_, _ = rand.Read(mine[:])
	if initiator {
		if err := say(c, mine[:]); err != nil {
			return err
		}
		if err := hear(c, theirs[:]); err != nil {
			return err
		}
		if err := say(c, key.mac("initiator", mine, theirs, context)); err != nil {
			return err
		}
		return check(c, key.mac("acceptor", mine, theirs, context))
	}
	if err := hear(c, theirs[:]); err != nil {
		return err
	}
	if err := say(c, mine[:]); err != nil {
		return err
	}
	if err := check(c, key.mac("initiator", theirs, mine, context)); err != nil {
		if errors.Is(err, ErrDiffers) {
			_ = say(c, make([]byte, macSize)) // no proof: so the initiator knows why
		}
		return err
	}
	return say(c, key.mac("acceptor", theirs, mine, context))
}

// mac is the proof of a role in an exchange of these nonces, the initiator's first.
func (s Secret) mac(role string, initiators, acceptors [nonceSize]byte, context []byte) []byte {
	h := hmac.New(sha256.New, s[:])
	_, _ = io.WriteString(h, role)
	_, _ = h.Write(initiators[:])
	_, _ = h.Write(acceptors[:])
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(context))))
	_, _ = h.Write(context)
	return h.Sum(nil)
}

// check hears a proof.
func check(c io.Reader, want []byte) error {
	var got [macSize]byte
	if err := hear(c, got[:]); err != nil {
		return err
	}
	if !hmac.Equal(got[:], want) {
		return ErrDiffers
	}
	return nil
}

func say(c io.Writer, b []byte) error {
	if _, err := c.Write(b); err != nil {
		return fmt.Errorf("secret: the peer did not take its part of the proof: %w", err)
	}
	return nil
}

func hear(c io.Reader, b []byte) error {
	_, err := io.ReadFull(c, b)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("secret: the peer closed the connection before the proof was complete: %w", err)
	}
	return fmt.Errorf("secret: the peer's part of the proof: %w", err)
}
