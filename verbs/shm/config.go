//go:build linux

package shm

import (
	"fmt"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// Way is how the bytes of a read travel.
type Way uint8

// Ways of reading. Auto takes Direct for memory that is mapped here, and else
// the faster of the two others, by measurement, for the pair at hand. A way that
// can't serve a read (Direct for ordinary memory, Copy where the system denies
// it) gives way to one that can.
const (
	Auto Way = iota
	Direct
	Stream
	Copy
)

var wayNames = [...]string{"auto", "direct", "stream", "copy"}

func (w Way) String() string { return wayNames[w] }

// ParseWay reads a way's name.
func ParseWay(s string) (Way, error) {
	for i, n := range wayNames {
		if s == n {
			return Way(i), nil
		}
	}
	return Auto, fmt.Errorf("%q is not a way of reading: want auto, direct, stream or copy", s)
}

// Config describes a device. The zero value works.
type Config struct {
	// MaxPeers is how many queue pairs can be connected. Unused ones cost
	// address space, no memory. 0 means 1024.
	MaxPeers int
	// Memory is the address space for receive queues, in bytes; what isn't
	// touched costs no memory. 0 means 1 GiB.
	Memory int64
	// AllocMemory is the address space for Alloc, in bytes. 0 means as much as
	// the machine has memory.
	AllocMemory int64
	// Read forces a way of reading.
	Read Way
	// NoSingleCopy is for tests: process_vm_readv counts as denied.
	NoSingleCopy bool
	// ConnectTimeout bounds the making of a connection. 0 means 30 s.
	ConnectTimeout time.Duration
}

func (c Config) withDefaults() (Config, error) {
	if c.MaxPeers == 0 {
		c.MaxPeers = 1024
	}
	if c.Memory == 0 {
		c.Memory = 1 << 30
	}
	if c.AllocMemory == 0 {
		c.AllocMemory = machineMemory()
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 30 * time.Second
	}
	if c.MaxPeers < 1 || c.MaxPeers > 1<<16-2 {
		return c, fmt.Errorf("%w: shm: MaxPeers %d is not in 1..%d", verbs.ErrInvalid, c.MaxPeers, 1<<16-2)
	}
	if c.Memory < pageSize || c.Memory > 1<<40 || c.AllocMemory < pageSize || c.AllocMemory > 1<<46 {
		return c, fmt.Errorf("%w: shm: Memory %d, AllocMemory %d", verbs.ErrInvalid, c.Memory, c.AllocMemory)
	}
	if c.ConnectTimeout < 0 || c.Read > Copy {
		return c, fmt.Errorf("%w: shm: ConnectTimeout %v, Read %d", verbs.ErrInvalid, c.ConnectTimeout, c.Read)
	}
	c.AllocMemory &^= pageSize - 1
	return c, nil
}
