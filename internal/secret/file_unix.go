//go:build unix

package secret

import (
	"io/fs"
	"os"
	"syscall"
)

// exposed says why a file is no place for a secret, or nothing.
func exposed(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	return tooOpen(info.Mode(), ok && st.Uid == 0, os.Geteuid() == 0)
}
