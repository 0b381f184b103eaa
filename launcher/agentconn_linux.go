package launcher

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// duplex is a connection of two files.
type duplex struct {
	io.Reader
	in, out *os.File
}

func stdioConn() (*duplex, error) {
	in, err := polled(agentInput, "standard input")
	if err != nil {
		return nil, err
	}
	if err := makeRaw(agentOutput); err != nil {
		return nil, err
	}
	out, err := polled(agentOutput, "standard output")
	if err != nil {
		return nil, err
	}
	return &duplex{in, in, out}, nil
}

// makeRaw lets all bytes pass, if a file is a terminal: srun may have made it one.
func makeRaw(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil
	}
	t.Oflag &^= unix.OPOST
	t.Iflag &^= unix.BRKINT | unix.ICRNL | unix.INLCR | unix.IGNCR | unix.ISTRIP | unix.IXON | unix.PARMRK
	t.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG | unix.IEXTEN
	return os.NewSyscallError("ioctl", unix.IoctlSetTermios(fd, unix.TCSETS, t))
}

func (d *duplex) Write(p []byte) (int, error) { return d.out.Write(p) }
func (d *duplex) Close() error                { return errors.Join(d.in.Close(), d.out.Close()) }
