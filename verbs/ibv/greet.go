//go:build ibv && cgo && linux

package ibv

import "fmt"

const greetLen = 40

// A greeting says who dials and whom it wants.
func encodeGreeting(from, to deviceID) (b [greetLen]byte) {
	copy(b[:], "VRBI")
	b[4] = wireVersion
	copy(b[8:], from[:])
	copy(b[24:], to[:])
	return b
}

func decodeGreeting(b *[greetLen]byte) (from, to deviceID, err error) {
	if string(b[:4]) != "VRBI" || b[4] != wireVersion {
		return from, to, fmt.Errorf("%w: greeting %x", errWire, b[:8])
	}
	copy(from[:], b[8:])
	copy(to[:], b[24:])
	return from, to, nil
}
