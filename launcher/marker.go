package launcher

import (
	"bufio"
	"fmt"
	"strings"
)

// markerLine begins the lines by which a new agent, or the shell that is to start
// it, says how far it is. A login shell may have printed something before.
const markerLine = "verbena-agent: "

// Words of a marker line; one that begins otherwise is wrong.
const (
	markerReady   = "ready "  // then the version: the session begins
	markerMissing = "missing" // there is no such file
	markerDenied  = "denied"  // the file can't be executed
	markerSend    = "send"    // send the program's bytes
	markerFailed  = "failed " // then why
)

// maxSkipped bounds what may come before a marker line.
const maxSkipped = 64 << 10

// readMarker reads up to a marker line and returns what that says, and what came
// before.
func readMarker(r *bufio.Reader) (said string, skipped []byte, err error) {
	for {
		line, err := r.ReadSlice('\n')
		// A shell's last words may have had no newline.
		if i := strings.Index(string(line), markerLine); i >= 0 && err == nil {
			skipped = append(skipped, line[:i]...)
			return strings.TrimRight(string(line[i+len(markerLine):]), "\r\n"), skipped, nil
		}
		skipped = append(skipped, line...)
		switch {
		case len(skipped) > maxSkipped:
			return "", skipped, fmt.Errorf("more than %d bytes, and no agent among them", maxSkipped)
		case err != nil && err != bufio.ErrBufferFull:
			return "", skipped, err
		}
	}
}
