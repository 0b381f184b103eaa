package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What two devices say before a link stands. Every message has one size:
//
//	dialer → acceptor  preamble
//	acceptor → dialer  preamble
//	both               the handshake of TLS, if both say so
//	dialer → acceptor  the ids of the two devices
//	both               the proof of the secret, bound to all of that
//	dialer → acceptor  hello
//	acceptor → dialer  answer
//
// Up to the proof the bytes are only compared with what they must be.
const (
	wireVersion  = 1
	preambleSize = 8
	idsSize      = 2 * len(deviceID{})
	wantSize     = 12
	answerSize   = 4
	maxRails     = 8
	flagTLS      = 1 << 0
)

// preamble says what the speaker speaks. Its size and the places of magic and
// version hold for all versions.
type preamble [preambleSize]byte

func newPreamble(tls bool) preamble {
	p := preamble{'v', 'r', 'b', 't', wireVersion}
	if tls {
		p[5] = flagTLS
	}
	return p
}

// errStranger: the other end isn't one of this program's.
var errStranger = errors.New("what answers there is no device of this kind")

// mismatch is why two processes of this kind can't talk.
type mismatch string

func (m mismatch) Error() string { return string(m) }

// against says why two devices can't talk, from the point of view of p's.
func (p preamble) against(theirs preamble) error {
	switch {
	case string(p[:4]) != string(theirs[:4]):
		return errStranger
	case p[4] != theirs[4]:
		return mismatch(fmt.Sprintf("the peer speaks version %d of the protocol, and this program version %d: run the same build everywhere", theirs[4], p[4]))
	case p[5] != theirs[5] && p[5]&flagTLS != 0:
		return mismatch("the peer does not use TLS and this process does: set VERBENA_TLS alike for all ranks")
	case p[5] != theirs[5] && theirs[5]&flagTLS != 0:
		return mismatch("the peer uses TLS and this process does not: set VERBENA_TLS alike for all ranks")
	case p != theirs:
		return errStranger
	}
	return nil
}

// context is what a proof is bound to: that the two speak of the same connection.
func proofContext(dialer, acceptor preamble, from, to deviceID, session []byte) []byte {
	b := append([]byte("verbena tcp\n"), dialer[:]...)
	b = append(b, acceptor[:]...)
	b = append(b, from[:]...)
	b = append(b, to[:]...)
	return append(b, session...)
}

// want is what a dialer wants to be connected to.
type want struct {
	from          deviceID
	local, remote uint32 // labels, as the acceptor sees them
	rail          int
}

// encodeHello speaks for the dialer, whose labels are the other way round.
func encodeHello(w want) (b [wantSize]byte) {
	binary.LittleEndian.PutUint32(b[0:], w.local)
	binary.LittleEndian.PutUint32(b[4:], w.remote)
	b[8] = byte(w.rail)
	return b
}

func decodeHello(b [wantSize]byte) (w want, err error) {
	w.local = binary.LittleEndian.Uint32(b[0:])
	w.remote = binary.LittleEndian.Uint32(b[4:])
	w.rail = int(b[8])
	if w.rail >= maxRails || b[9] != 0 || b[10] != 0 || b[11] != 0 {
		return want{}, fmt.Errorf("tcp: a hello for rail %d, with %x in place of zeros", w.rail, b[9:])
	}
	return w, nil
}

// answer is what an acceptor says to a hello.
type answer uint8

const (
	answerOK      answer = 1 + iota
	answerLabel          // there is no such queue pair, and none came in time
	answerDevice         // that queue pair is connected to another device
	answerClosing        // the device closes in good order
	answerBusy           // too many handshakes at once: try again
	answerFailed         // that queue pair has failed, and its device lives
	lastAnswer    = answerFailed
)

var answerTexts = [...]string{
	answerOK:      "accepted",
	answerLabel:   "it has no such queue pair",
	answerDevice:  "its queue pair is connected to another device",
	answerClosing: "it is closing",
	answerBusy:    "it has too many handshakes at once",
	answerFailed:  "it has given up talking with this one",
}

func (a answer) String() string {
	if int(a) < len(answerTexts) && answerTexts[a] != "" {
		return answerTexts[a]
	}
	return fmt.Sprintf("answer(%d)", uint8(a))
}

func encodeAnswer(a answer) [answerSize]byte { return [answerSize]byte{byte(a)} }

func decodeAnswer(b [answerSize]byte) (answer, error) {
	if a := answer(b[0]); a >= answerOK && a <= lastAnswer && b[1] == 0 && b[2] == 0 && b[3] == 0 {
		return a, nil
	}
	return 0, fmt.Errorf("tcp: an answer of %x", b)
}

// refusal is the error of a dial that a peer of this job has answered with a no.
type refusal struct{ answer answer }

func (r refusal) Error() string { return "tcp: the peer refuses: " + r.answer.String() }
