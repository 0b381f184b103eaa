//go:build unix

package secret

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFromFileMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{0o600: "", 0o400: "", 0o644: "its mode is 0644: others", 0o640: "its mode is 0640: its group"} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := FromFile(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%#o: %v, expected %q", mode, err, want)
		}
	}
}

// A pipe that nobody writes to doesn't hold the job up.
func TestFromFilePipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FromFile(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}
