package launcher

import (
	"os/exec"
	"testing"
)

// A shell reads back what was quoted.
func TestShellQuote(t *testing.T) {
	for _, s := range []string{"a", "", "a b", "it's", "$HOME `x` \\ \"q\"", "-n=1,2:3/4@%+", "tab\tnew\nline", "é", "\xff", "*", "~", "a;b"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q: %s gives %q, %v", s, shellQuote(s), out, err)
		}
	}
	if shellQuote("./ring") != "./ring" {
		t.Error("quoted without need")
	}
}
