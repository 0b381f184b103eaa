// Package pmi speaks PMI-1, the line protocol by which a process manager tells
// its ranks who they are and lets them exchange small values: Hydra, Slurm's
// pmi2 plugin and verbrun all answer it on an inherited socket.
//
// Each message is one line of key=value pairs, cmd first by habit but not by
// rule. A client has one request outstanding at a time, with one exception:
// abort, which has no answer, may be sent at any moment.
//
// Client is the rank's side. Server is the launcher's, one for all ranks of a
// job. Both take any stream with deadlines and neither starts processes.
package pmi

import (
	"net"
	"time"
)

// Limits of the wire. The server announces the first three; clients keep their
// values below SafeValue, since longer ones hung or broke real servers.
const (
	MaxKVSName = 256
	MaxKey     = 64
	MaxValue   = 1024
	SafeValue  = 900
	MaxLine    = 8192 // either way, newline included
)

// Conn is the stream under a client or a server: a net.Conn, or an os.File of
// a non-blocking socket.
type Conn interface {
	Read(p []byte) (int, error)
	Write(p []byte) (int, error)
	Close() error
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

var _ Conn = net.Conn(nil)
