package harness

import (
	"fmt"
	"strings"
)

// usage returns the text that -h prints, and that precedes the message for a
// command line that was not understood.
func (s *Spec) usage() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s [options]\nOptions:\n", s.Name)
	for _, opt := range s.options() {
		name := "    --" + opt.long
		if opt.short != 0 {
			name = "-" + string(opt.short) + ", --" + opt.long
		}
		help := opt.help
		if opt.value != "" {
			help = opt.value + "\n" + help
		}
		for line := range strings.SplitSeq(help, "\n") {
			fmt.Fprintf(&b, "  %-26s%s\n", name, line)
			name = ""
		}
	}
	return b.String()
}
