package launcher

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"
)

// endGrace is how long the end of a starter may come after that of its connection.
const endGrace = time.Second

// checkMarker looks at what a new agent says of itself, or its shell in its place.
func (v *supervisor) checkMarker(h *host, said string) error {
	version, ready := strings.CutPrefix(said, markerReady)
	switch {
	case ready && version == agentVersion():
		return nil
	case ready:
		return fail(StatusHost, "%s: verbrun at %s there has version %s, and here it is %s", h.name, v.spec.Self, version, agentVersion())
	case said == markerMissing:
		return fail(StatusNotFound, "%s: no verbrun at %s there: install it, or say --preload", h.name, v.spec.Self)
	case said == markerDenied:
		return fail(StatusNotExecutable, "%s: verbrun at %s there can't be executed", h.name, v.spec.Self)
	case strings.HasPrefix(said, markerFailed):
		return fail(StatusHost, "%s: %s", h.name, said[len(markerFailed):])
	}
	return fail(StatusHost, "%s: unexpected answer %q from the agent", h.name, said)
}

// unreached is why there is no agent: its starter knows, or what came instead.
func (v *supervisor) unreached(h *host, err error, instead []byte) error {
	if h.parent != nil && h.parent.session != nil && h.parent.session.IsClosed() {
		return fail(StatusHost, "%s: it was to be reached through %s, which is gone", h.name, h.parent.name)
	}
	status, ok := h.way.end()
	words := h.way.words.last()
	if lines := strings.Split(strings.TrimSpace(string(instead)), "\n"); words == "" && lines[0] != "" {
		words = ": " + strings.TrimSpace(lines[len(lines)-1])
	}
	switch how := v.spec.Reach.name(); {
	case !ok && errors.Is(err, io.EOF):
		return fail(StatusHost, "%s: %s closed the connection before the agent answered%s", h.name, how, words)
	case !ok:
		return fail(StatusHost, "%s: no agent: %w%s", h.name, err, words)
	case status.Exited() && status.ExitStatus() == 255 && how == "ssh":
		if words == "" {
			words = ": it gave no reason"
		}
		return fail(StatusHost, "%s: ssh can't reach it%s", h.name, words)
	default:
		return fail(StatusHost, "%s: %s %s before the agent answered%s", h.name, how, describe(status), words)
	}
}

// gone is the error for a host whose session has ended.
func (v *supervisor) gone(h *host) error {
	return fail(StatusHost, "host %s is gone: %w", h.name, v.goneBecause(h))
}

func (v *supervisor) goneBecause(h *host) error {
	if h.parent != nil && h.parent.session.IsClosed() {
		return fmt.Errorf("it was reached through %s, which is gone", h.parent.name)
	}
	_, err := h.session.AcceptStream() // says why
	switch {
	case h.session.silent.Load():
		return fmt.Errorf("no sign of life for %v", v.spec.patience())
	case errors.Is(err, yamux.ErrSessionShutdown):
		return errors.New("its agent doesn't read what it is told")
	case errors.Is(err, yamux.ErrInvalidVersion), errors.Is(err, yamux.ErrInvalidMsgType), errors.Is(err, yamux.ErrUnexpectedFlag), errors.Is(err, yamux.ErrRecvWindowExceeded), errors.Is(err, yamux.ErrDuplicateStream):
		return fmt.Errorf("what comes from its agent makes no sense: %w", err)
	}
	status, ok := h.way.end()
	if ok && status != 0 {
		return fmt.Errorf("%s %s%s", v.spec.Reach.name(), describe(status), h.way.words.last())
	}
	return fmt.Errorf("its agent has ended%s", h.way.words.last())
}

// end is the status of a starter whose connection has ended.
func (w *way) end() (syscall.WaitStatus, bool) {
	select {
	case s := <-w.ended:
		w.ended <- s // others may ask
		return s, true
	case <-time.After(endGrace):
		return 0, false
	}
}
