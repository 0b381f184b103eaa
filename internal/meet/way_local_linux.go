package meet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// local is the way within a host: an abstract socket, which is in no file system and
// ends with its process. What the ranks have in common is their user.
type local struct {
	what string // for errors
	name string
}

// Local is the way between processes of one user on one host, in one network
// namespace. Job tells jobs apart; what says where it comes from, for errors.
func Local(what, job string) (Way, error) {
	sum := sha256.Sum256([]byte(job)) // it may be long, or have any bytes
	return &local{what, "@verbena-meet-" + strconv.Itoa(os.Geteuid()) + "-" + hex.EncodeToString(sum[:16])}, nil
}

func (w *local) String() string { return w.what }

func (w *local) Listen() (net.Listener, error) {
	l, err := net.Listen("unix", w.name)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	if c, derr := net.Dial("unix", w.name); derr == nil {
		defer func() { _ = c.Close() }()
		if cred, cerr := credentials(c); cerr == nil {
			return nil, fmt.Errorf("the socket %s is taken by process %d of user %d: is it rank 0, too?", w.name, cred.Pid, cred.Uid)
		}
	}
	return nil, err
}

func (w *local) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", w.name)
}

// Secure checks the user: that of a listener is known to those who connect, too.
func (w *local) Secure(c net.Conn, _ bool) (net.Conn, error) {
	cred, err := credentials(c)
	if err != nil {
		return nil, err
	}
	if int(cred.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("%w: it is process %d of user %d, this is user %d", ErrStranger, cred.Pid, cred.Uid, os.Geteuid())
	}
	return &named{c, process(cred.Pid)}, nil
}

// named is a connection that says whose its other end is: sockets of clients have no
// names.
type named struct {
	net.Conn
	process
}

func (c *named) RemoteAddr() net.Addr { return c.process }

type process int32

func (process) Network() string  { return "unix" }
func (p process) String() string { return "process " + strconv.Itoa(int(p)) }

func (w *local) Doubt(context.Context) string { return "" }

// credentials are those of the process at the other end.
func credentials(c net.Conn) (cred *unix.Ucred, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, fmt.Errorf("%T is no socket of this host", c)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return nil, err
	}
	cerr := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	return cred, errors.Join(cerr, err)
}
