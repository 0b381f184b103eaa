package secret

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// What a file may have.
const (
	minFile = 16
	maxFile = 1 << 20
)

// FromFile reads a secret that was put on each host by other means: any 16 bytes or
// more, which are hashed. Newlines at the end don't count, since an editor may add
// one. A file that others can read or change holds no secret, and is refused.
func FromFile(path string) (Secret, error) {
	fail := func(format string, args ...any) (Secret, error) {
		return Secret{}, fmt.Errorf("secret: %s: "+format, append([]any{path}, args...)...)
	}
	info, err := os.Stat(path) // before it is opened, which waits for a pipe's writer
	if err != nil {
		return Secret{}, fmt.Errorf("secret: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fail("not a regular file but %v", info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return Secret{}, fmt.Errorf("secret: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil {
		return Secret{}, fmt.Errorf("secret: %w", err)
	}
	if why := exposed(info); why != "" {
		return fail("its mode is %#o: %s", info.Mode().Perm(), why)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Secret{}, fmt.Errorf("secret: %w", err)
	}
	b = bytes.TrimRight(b, "\r\n")
	switch {
	case len(b) < minFile:
		return fail("%d bytes, expected %d or more (head -c 32 /dev/urandom >file makes a good one)", len(b), minFile)
	case len(b) > maxFile:
		return fail("over %d bytes: not a secret's file", maxFile)
	}
	key, err := hkdf.Key(sha256.New, b, nil, "verbena secret file", Size)
	if err != nil {
		return Secret{}, fmt.Errorf("secret: %w", err)
	}
	return Secret(key), nil
}

// tooOpen is why a mode is refused. A file that belongs to the superuser may be read
// by a group of this process's: so it comes to one that runs as another user.
func tooOpen(mode fs.FileMode, roots, weAreRoot bool) string {
	const wanted = "chmod 600 it (for a secret that Kubernetes mounts: defaultMode: 0400, or 0440 with runAsUser and fsGroup)"
	switch perm := mode.Perm(); {
	case perm&0o006 != 0:
		return "others can read or change it: " + wanted
	case perm&0o020 != 0:
		return "its group can change it: " + wanted
	case perm&0o040 != 0 && (!roots || weAreRoot):
		return "its group can read it: " + wanted
	}
	return ""
}
