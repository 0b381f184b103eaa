package ibv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/verbena-mpi/verbena/verbs"
)

// The exchange between two devices: a greeting by who dialed, then frames of one
// size both ways. Nothing here is on a fast path.

var errWire = errors.New("verbs/ibv: malformed exchange")

const (
	wireVersion = 1
	maxAddrs    = 8
	frameLen    = 48
)

// deviceID names one opened device, for as long as it lives.
type deviceID [16]byte

// kind is what a frame says.
type kind uint8

const (
	hello  kind = 1 + iota // my queue pair waits for yours: its parameters
	accept                 // yours is known here and mine can receive: its parameters
	ready                  // mine can receive, too
	end                    // my queue pair is gone, with a status
	bye                    // my device is gone
)

// params are what the other end must know of a queue pair.
type params struct {
	qpn, psn uint32
	lid      uint16
	mtu      uint8
	reads    uint8  // RDMA reads it serves at once
	slot     uint32 // bytes of a slot of its receive queue
	gid      [16]byte
}

// frame is one message of the exchange. from and to are the labels of Connect,
// seen from the sender.
type frame struct {
	kind     kind
	status   verbs.Status
	from, to uint32
	params
}

func (f *frame) encode(b *[frameLen]byte) {
	*b = [frameLen]byte{byte(f.kind), byte(f.status), f.mtu, f.reads}
	le := binary.LittleEndian
	le.PutUint32(b[4:], f.from)
	le.PutUint32(b[8:], f.to)
	le.PutUint32(b[12:], f.qpn)
	le.PutUint32(b[16:], f.psn)
	le.PutUint16(b[20:], f.lid)
	copy(b[24:], f.gid[:])
	le.PutUint32(b[40:], f.slot)
}

func decodeFrame(b *[frameLen]byte) (frame, error) {
	le := binary.LittleEndian
	f := frame{
		kind: kind(b[0]), status: verbs.Status(b[1]), from: le.Uint32(b[4:]), to: le.Uint32(b[8:]),
		params: params{qpn: le.Uint32(b[12:]), psn: le.Uint32(b[16:]), lid: le.Uint16(b[20:]), mtu: b[2], reads: b[3], slot: le.Uint32(b[40:])},
	}
	copy(f.gid[:], b[24:])
	switch {
	case f.kind < hello || f.kind > bye:
		return f, fmt.Errorf("%w: frame of kind %d", errWire, b[0])
	case f.qpn >= 1<<24 || f.psn >= 1<<24 || f.mtu > 5:
		return f, fmt.Errorf("%w: queue pair %#x, sequence %#x, mtu %d", errWire, f.qpn, f.psn, f.mtu)
	}
	return f, nil
}

// A device's address is its identity and where its exchange listens.
func encodeAddr(id deviceID, at []netip.AddrPort) []byte {
	at = at[:min(len(at), maxAddrs)]
	b := append([]byte{wireVersion, byte(len(at))}, id[:]...)
	for _, a := range at {
		ip := a.Addr().As16()
		b = append(b, ip[:]...)
		b = binary.LittleEndian.AppendUint16(b, a.Port())
	}
	return b
}

func decodeAddr(b []byte) (id deviceID, at []netip.AddrPort, err error) {
	if len(b) < 18 || b[0] != wireVersion || b[1] > maxAddrs || len(b) != 18+18*int(b[1]) {
		return id, nil, fmt.Errorf("%w: device address of %d bytes", errWire, len(b))
	}
	copy(id[:], b[2:])
	for b = b[18:]; len(b) > 0; b = b[18:] {
		at = append(at, netip.AddrPortFrom(netip.AddrFrom16([16]byte(b)).Unmap(), binary.LittleEndian.Uint16(b[16:])))
	}
	return id, at, nil
}
