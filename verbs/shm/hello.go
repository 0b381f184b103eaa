//go:build linux

package shm

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/verbena-mpi/verbena/verbs"
)

// deviceID names a device, and its abstract socket.
type deviceID [16]byte

func (id deviceID) socket() string { return "@verbena-" + hex.EncodeToString(id[:]) }

// labels are the two ends of a connection, this side's first.
type labels struct{ local, remote uint32 }

// token is what a peer must know, besides having the same user id. It is
// published with the address, to the ranks of the job and to nobody else; the
// socket's name is no secret.
type token [16]byte

func (t token) hash() [32]byte { return sha256.Sum256(t[:]) }

// addr is what Addr publishes: the device's id, the identity of its host, and
// its token.
type addr struct {
	ID    deviceID
	Host  hostID
	Token token
}

const addrMagic = "vshm1"

// Addr implements verbs.Device.
func (d *Device) Addr() []byte {
	h := thisHost()
	b := append([]byte(addrMagic), d.id[:]...)
	b = append(b, h[:]...)
	return append(b, d.token[:]...)
}

func parseAddr(b []byte) (a addr, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(addrMagic))
	if !ok || len(rest) != len(a.ID)+len(a.Host)+len(a.Token) {
		return a, fmt.Errorf("%w: shm: %d bytes that are not the address of a shm device", verbs.ErrInvalid, len(b))
	}
	copy(a.ID[:], rest)
	copy(a.Host[:], rest[len(a.ID):])
	copy(a.Token[:], rest[len(a.ID)+len(a.Host):])
	return a, nil
}

// Reaches says whether a device with this address is on this host, in this
// network namespace, and of this user: whether shm can connect to it.
func Reaches(address []byte) bool {
	a, err := parseAddr(address)
	return err == nil && a.Host == thisHost()
}

// hello is what each side says when a connection is made; the descriptors of its
// segments and its bell travel with it.
type hello struct {
	Magic     uint64
	Version   uint32
	Status    uint32 // of a reply: 0, or why not
	From      deviceID
	Proof     [32]byte // hash of the listener's token
	Local     uint32   // labels, as the speaker sees them
	Remote    uint32
	Ring      uint32 // the ring that the listener shall write, in the speaker's segment
	_         uint32
	Pool      poolInfo
	SegSize   int64
	AllocSize int64
	Nonce     uint64
	NonceAddr uint64 // where Nonce lies in the speaker's address space
}

const helloVersion = 2

// Why a connection is refused.
const (
	refusedNot     uint32 = iota
	refusedVersion        // this side speaks another version
	refusedLabel          // no such queue pair here
	refusedDevice         // the queue pair is connected to another device
)

var (
	errHello   = errors.New("shm: malformed greeting")
	errGoodbye = errors.New("shm: the peer closes")
)

func (h *hello) encode() []byte {
	b, err := binary.Append(make([]byte, 0, 256), binary.LittleEndian, h)
	if err != nil {
		panic(err) // hello has a fixed size
	}
	return b
}

// decodeHello reads a greeting and checks all that can be checked without
// knowing who speaks.
func decodeHello(b []byte) (h hello, err error) {
	n, err := binary.Decode(b, binary.LittleEndian, &h)
	if err != nil || n != len(b) || h.Magic != segMagic {
		return h, errHello
	}
	if h.Status != refusedNot || h.Version != helloVersion {
		return h, nil // the rest means nothing
	}
	if h.SegSize < ringsOff || h.SegSize > 1<<42 || h.AllocSize < 0 || h.AllocSize > 1<<47 {
		return h, fmt.Errorf("%w: segments of %d and %d bytes", errHello, h.SegSize, h.AllocSize)
	}
	if end := ringsOff + (int64(h.Ring)+1)*ringSize; h.Ring > 1<<16 || end > h.SegSize {
		return h, fmt.Errorf("%w: ring %d in a segment of %d bytes", errHello, h.Ring, h.SegSize)
	}
	if err := h.Pool.check(int(h.SegSize)); err != nil {
		return h, fmt.Errorf("%w: %w", errHello, err)
	}
	return h, nil
}

func (d *Device) hello(q *qp) hello {
	return hello{
		Magic: segMagic, Version: helloVersion, From: d.id, Proof: q.peer.Token.hash(),
		Local: q.labels.local, Remote: q.labels.remote, Ring: q.theirs - 1, Pool: q.rq.info,
		SegSize: int64(len(d.seg)), AllocSize: d.cfg.AllocMemory,
		Nonce: d.nonce, NonceAddr: address(d.seg) + uint64(nonceOff),
	}
}
