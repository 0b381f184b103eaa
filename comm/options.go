package comm

import "fmt"

// Option modifies one call: a [Mode] of a send, or the [Layout] of a buffer. A nil Option changes nothing.
// Options that don't go with the call, or with each other, are an error, ErrOption.
type Option interface{ option() }

// Mode is how a send is done, if not as usual: what is Ssend, Bsend and Rsend in
// MPI, and Issend, Ibsend, Irsend, is Send and Isend with an option here. So a mode
// goes with every call that sends, and with the other options.
type Mode uint8

// The modes.
const (
	// Standard is the mode of a send without one: it may be complete before its
	// message is matched, and may not.
	Standard Mode = iota
	// Sync: the send is complete only when a receive has matched the message, and
	// the receiver has it. Whatever its length: also a message of no bytes. MPI's
	// synchronous mode.
	Sync
	// Buffered: the send is over when it returns, and so is the nonblocking one; its
	// buffer is the program's again. What can't leave at once is copied, into memory
	// of the world's, up to Config.BufferLimit; if that is full the send fails with
	// ErrBuffer. World.Flush waits until all have left. MPI's buffered mode, with
	// what it calls an automatic buffer.
	Buffered
	// ReadyMode: the program promises that the receive was posted before. It is
	// the same as Standard, as MPI allows; nothing checks the promise.
	ReadyMode
)

func (Mode) option() {}

func (m Mode) String() string {
	switch m {
	case Standard:
		return "Standard"
	case Sync:
		return "Sync"
	case Buffered:
		return "Buffered"
	case ReadyMode:
		return "ReadyMode"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// options are those of one call, looked through.
type options struct {
	mode   Mode
	layout *Layout // of the buffer; in Sendrecv of the one that is sent
	kind   *kind   // of what is sent, where element types are compared
	second *Layout // in Sendrecv, of the one that is received into
}

// sendOptions looks through the options of a send, or of a call that receives too and
// so has two buffers. It keeps none of opts, which is on its caller's stack.
func sendOptions(opts []Option, buffers int) (o options, err error) {
	for _, opt := range opts {
		switch opt := opt.(type) {
		case nil:
		case Mode:
			switch {
			case opt > ReadyMode:
				return o, fmt.Errorf("%w: there is no %v", ErrOption, opt)
			case o.mode != Standard && o.mode != opt:
				return o, fmt.Errorf("%w: a send is %v or %v", ErrOption, o.mode, opt)
			}
			o.mode = opt
		case *Layout:
			if err := o.lay(opt, buffers); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// recvOptions looks through the options of a receive.
func recvOptions(opts []Option) (o options, err error) {
	for _, opt := range opts {
		switch opt := opt.(type) {
		case nil:
		case Mode:
			return o, fmt.Errorf("%w: %v is a send's, and this is a receive", ErrOption, opt)
		case *Layout:
			if err := o.lay(opt, 1); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// lay takes the layout of one of the call's buffers.
func (o *options) lay(l *Layout, buffers int) error {
	switch {
	case l == nil:
	case o.layout == nil:
		o.layout = l
	case buffers == 2 && o.second == nil:
		o.second = l
	default:
		return fmt.Errorf("%w: %d layouts for %d", ErrOption, buffers+1, buffers)
	}
	return nil
}
