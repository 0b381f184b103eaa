package tcp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"

	"github.com/verbena-mpi/verbena/verbs"
)

// deviceID names an opened device, for as long as it lives.
type deviceID [16]byte

func (id deviceID) String() string { return hex.EncodeToString(id[:4]) }

// hostID is the same for two devices exactly when an address of one's own means the
// same to both: same boot of the same kernel, same network namespace.
type hostID [8]byte

// address is what a device publishes.
type deviceAddr struct {
	id   deviceID
	host hostID
	port uint16
	at   []place
}

// place is one address of a device.
type place struct {
	prefix netip.Prefix // the address, and how long the prefix of its subnet is
	nic    uint8        // a number for the interface that has it
	last   bool         // to be tried when nothing else is left
}

const (
	addrMagic   = "vtcp1"
	maxAddr     = 256 // bytes: what verbs.Device promises
	addrHead    = len(addrMagic) + len(deviceID{}) + len(hostID{}) + 2 + 1
	maxPlaces   = (maxAddr - addrHead) / (placeHead + 4)
	placeHead   = 3
	placeIs6    = 1 << 0
	placeIsLast = 1 << 1
)

// encode takes as many places as 256 bytes have room for, from the front.
func (a *deviceAddr) encode() []byte {
	b := append(make([]byte, 0, maxAddr), addrMagic...)
	b = append(b, a.id[:]...)
	b = append(b, a.host[:]...)
	b = binary.LittleEndian.AppendUint16(b, a.port)
	count := len(b)
	b = append(b, 0)
	for _, p := range a.at {
		ip, flags := p.prefix.Addr().AsSlice(), byte(0)
		if len(ip) == 16 {
			flags |= placeIs6
		}
		if p.last {
			flags |= placeIsLast
		}
		if len(b)+placeHead+len(ip) > maxAddr {
			continue
		}
		b = append(append(b, flags, p.nic, byte(p.prefix.Bits())), ip...)
		b[count]++
	}
	return b
}

// parseAddr reads an address that a peer has published. Each one has a single
// encoding, so that those of two devices are equal only if the devices are.
func parseAddr(b []byte) (a deviceAddr, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(addrMagic))
	if !ok || len(b) < addrHead || len(b) > maxAddr {
		return a, fmt.Errorf("%w: tcp: %d bytes that are not the address of a tcp device", verbs.ErrInvalid, len(b))
	}
	rest = rest[copy(a.id[:], rest):]
	rest = rest[copy(a.host[:], rest):]
	a.port = binary.LittleEndian.Uint16(rest)
	n := int(rest[2])
	rest = rest[3:]
	if n > maxPlaces {
		return a, fmt.Errorf("%w: tcp: a device with %d addresses, at most %d have room", verbs.ErrInvalid, n, maxPlaces)
	}
	a.at = make([]place, 0, n)
	for i := range n {
		p, k, err := parsePlace(rest)
		if err != nil {
			return a, fmt.Errorf("%w: tcp: address %d of a device: %w", verbs.ErrInvalid, i+1, err)
		}
		a.at, rest = append(a.at, p), rest[k:]
	}
	if len(rest) > 0 || a.port == 0 {
		return a, fmt.Errorf("%w: tcp: a device's address: port %d, %d bytes too many", verbs.ErrInvalid, a.port, len(rest))
	}
	return a, nil
}

func parsePlace(b []byte) (p place, n int, err error) {
	if len(b) < placeHead {
		return p, 0, fmt.Errorf("%d bytes, expected %d at least", len(b), placeHead)
	}
	flags, size := b[0], 4
	if flags&placeIs6 != 0 {
		size = 16
	}
	n = placeHead + size
	if len(b) < n || flags&^(placeIs6|placeIsLast) != 0 {
		return p, 0, fmt.Errorf("flags %#x, %d bytes", flags, len(b))
	}
	ip, _ := netip.AddrFromSlice(b[placeHead:n])
	if ip.Is4In6() || ip.IsUnspecified() || ip.IsMulticast() || ip == broadcast {
		return p, 0, fmt.Errorf("%v is no address of a host", ip)
	}
	if int(b[2]) > ip.BitLen() {
		return p, 0, fmt.Errorf("prefix of %d bits", b[2])
	}
	return place{prefix: netip.PrefixFrom(ip, int(b[2])), nic: b[1], last: flags&placeIsLast != 0}, n, nil
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})
