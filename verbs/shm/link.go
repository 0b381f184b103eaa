//go:build linux

package shm

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// link is what this side has of a connected peer.
type link struct {
	conn    *net.UnixConn
	seg     []byte
	header  *header
	bell    bell
	fds     [3]int // segment, second segment, bell
	arena   []byte // the peer's second segment, once it was needed
	arenaN  int64
	noArena bool // it can't be mapped
	regions []region
	reads   []line
	chunks  []byte
	warm    bool // chunks have their pages
	hello   hello

	pid   int  // 0: not visible from here
	pidFD int  // becomes readable when that process ends
	vm    bool // process_vm_readv works, and reads the right process
}

// newLink maps what the peer has sent. It owns the descriptors from here on.
func newLink(conn *net.UnixConn, h hello, fds [3]int, pid int, noVM bool) (*link, error) {
	l := &link{conn: conn, fds: fds, hello: h, arenaN: h.AllocSize, pid: pid, pidFD: -1}
	seg, err := mapSegment(fds[0], h.SegSize, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		l.close()
		return nil, err
	}
	l.seg = seg
	l.header = view[header](seg, headerOff)
	if magic, version := l.header.magic, l.header.version; magic != segMagic || version != segVersion {
		l.close()
		return nil, fmt.Errorf("shm: a segment of version %d, want %d", version, segVersion)
	}
	l.bell = bell{armed: &l.header.armed, fd: fds[2]}
	l.regions = views[region](seg, regionOff, maxRegions)
	l.reads = views[line](seg, readOff, maxReads)
	l.chunks = seg[chunkOff:ringsOff]
	if !noVM {
		l.probeVM()
	}
	return l, nil
}

// mapArena maps the peer's second segment at the first direct read.
func (l *link) mapArena() ([]byte, error) {
	if l.arena == nil {
		mem, err := mapSegment(l.fds[1], l.arenaN, unix.PROT_READ)
		if err != nil {
			return nil, err
		}
		l.arena = mem
	}
	return l.arena, nil
}

// leave ends the link, with a goodbye so that the peer knows it from a death. The
// connection stays half open until the peer has heard: from then on it writes
// nothing more (contact.go, watch).
func (l *link) leave() {
	_, _ = l.conn.Write([]byte{goodbye})
	_ = l.conn.CloseWrite()
	l.conn = nil
	l.close()
}

func (l *link) close() {
	if l.conn != nil {
		_ = l.conn.Close()
	}
	for _, fd := range append(l.fds[:], l.pidFD) {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	if l.seg != nil {
		_ = unix.Munmap(l.seg)
	}
	if l.arena != nil {
		_ = unix.Munmap(l.arena)
	}
	l.seg, l.arena, l.fds, l.pidFD = nil, nil, [3]int{-1, -1, -1}, -1
}
