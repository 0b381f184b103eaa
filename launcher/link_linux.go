package launcher

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/internal/control"
)

// Where a rank finds the control connection, and the file for its last words.
const (
	rankControlFD = 4
	rankCrashFD   = 5
)

// maxCrash bounds what is read of a rank's last words.
const maxCrash = 1 << 20

// link is what a rank is given besides its streams and PMI: a connection for
// exits and dumps, and a file in memory to which Go's runtime copies the trace of
// a crash. A program that isn't Verbena's never uses them.
type link struct {
	conn   *control.Conn
	ours   *os.File // what conn is made of, on this host
	crash  *os.File
	theirs *os.File // their end of the connection, until the rank is started

	words []byte // a remote rank's last words

	// Of the supervisor's loop.
	listens bool           // it has said hello
	deaf    bool           // it said something wrong, or doesn't read
	told    int            // how many of the job's exits it has been told
	blocked *control.State // its last word; nil: it isn't, or hasn't said so
}

// newLink makes a link. Without one, where there are no descriptors left, its
// rank works as it does under another launcher.
func newLink() *link {
	l := &link{}
	ours, theirs, err := socketPair()
	if err != nil {
		return l
	}
	fd, err := unix.MemfdCreate("verbena-crash", unix.MFD_CLOEXEC)
	if err != nil {
		_, _ = ours.Close(), theirs.Close()
		return l
	}
	l.conn, l.ours, l.theirs, l.crash = control.NewConn(ours), ours, theirs, os.NewFile(uintptr(fd), "crash")
	return l
}

// newRemoteLink is the link of a rank on another host.
func newRemoteLink(s control.Stream) *link { return &link{conn: control.NewConn(s)} }

// env is what the rank's environment says of the link.
func (l *link) env(job string) []string {
	if l.conn == nil {
		return nil
	}
	return []string{control.Env + "=" + control.Place{Conn: rankControlFD, Crash: rankCrashFD, Job: job}.String()}
}

// files are the descriptors that the rank inherits, after that of PMI.
func (l *link) files() []uintptr {
	if l.conn == nil {
		return nil
	}
	return []uintptr{l.theirs.Fd(), l.crash.Fd()}
}

// given closes what is the rank's alone, once it has started, or hasn't.
func (l *link) given() {
	if l.theirs != nil {
		_ = l.theirs.Close()
		l.theirs = nil
	}
}

// lastWords is what the rank's runtime wrote to the file.
func (l *link) lastWords() []byte {
	if l.crash == nil {
		return l.words
	}
	b := make([]byte, maxCrash)
	n, _ := l.crash.ReadAt(b, 0)
	return b[:n]
}
