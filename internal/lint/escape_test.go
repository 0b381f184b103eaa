package lint

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A buffer on the stack of its goroutine would move when that stack grows, while
// a device writes to where it was. The program in testdata gives a local array to
// each communication call; the compiler must say that it moves each to the heap.
func TestBuffersEscape(t *testing.T) {
	cmd := exec.Command("go", "build", "-gcflags=-m", "-o", filepath.Join(t.TempDir(), "x"), "./testdata/escape")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"sent", "received", "isent", "ireceived", "out", "in"} {
		if !strings.Contains(string(out), "moved to heap: "+name+"\n") {
			t.Errorf("the buffer of %q stays on the stack", name)
		}
	}
	if strings.Contains(string(out), "moved to heap: kept") {
		t.Error("the array that is given to no call was moved too: the test shows nothing")
	}
}
