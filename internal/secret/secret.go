// Package secret is what the ranks of a job share and strangers don't have. By it
// the two ends of a connection know that both belong to the job, before either
// looks at anything that the other says.
package secret

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Size is a secret's, in bytes.
const Size = 32

// Secret is a job's, or one derived from it. The zero value is none: it proves
// nothing, and no peer is taken that has it.
//
// No verb of fmt prints it, nor does encoding/json. That needs its methods, which
// nobody can call on what lies in an unexported field: don't print a struct that
// has one there.
type Secret [Size]byte

// Errors that callers may look for.
var (
	// ErrNone: the zero Secret was to prove something.
	ErrNone = errors.New("secret: none is set")
	// ErrDiffers: the peer has another secret, or none.
	ErrDiffers = errors.New("secret: the peer does not have this job's secret")
)

// New makes one from the system's random numbers, which never fail.
func New() Secret {
	var s Secret
	_, _ = rand.Read(s[:])
	return s
}

// Text is the secret in a form that Parse reads: 64 hexadecimal digits.
func (s Secret) Text() string { return hex.EncodeToString(s[:]) }

// Parse reads what Text gives. Its errors don't say what they read.
func Parse(text string) (Secret, error) {
	var s Secret
	if len(text) != hex.EncodedLen(Size) {
		return s, fmt.Errorf("secret: a text of %d bytes, expected %d hexadecimal digits", len(text), hex.EncodedLen(Size))
	}
	if _, err := hex.Decode(s[:], []byte(text)); err != nil {
		return Secret{}, fmt.Errorf("secret: not all of the %d bytes are hexadecimal digits", len(text))
	}
	if s.None() {
		return s, ErrNone
	}
	return s, nil
}

// Derive makes a secret for one purpose, from which neither this one nor those for
// other purposes can be found. Both ends say the same purpose.
func (s Secret) Derive(purpose string) Secret {
	var d Secret
	if s.None() {
		return d
	}
	key, err := hkdf.Key(sha256.New, s[:], nil, "verbena "+purpose, Size)
	if err != nil {
		panic(err) // only for lengths that aren't 32
	}
	copy(d[:], key)
	return d
}

// None says whether this is the zero value.
func (s Secret) None() bool { return s.Equal(Secret{}) }

// Equal compares in a time that says nothing about where the two differ.
func (s Secret) Equal(t Secret) bool { return subtle.ConstantTimeCompare(s[:], t[:]) == 1 }

const hidden = "secret(hidden)"

// String doesn't tell.
func (s Secret) String() string { return hidden }

// Format doesn't either, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText fails: whoever wants to send a secret says so, with Text.
func (s Secret) MarshalText() ([]byte, error) {
	return nil, errors.New("secret: not to be written by accident: use Text")
}
