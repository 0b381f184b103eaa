package launcher

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
)

// preloadEnv names, in ranks, the folder with the files that were copied to their
// host.
const preloadEnv = "VERBENA_PRELOAD"

// sentFile is a file that other hosts need: one of the job's Preload, or a program
// that was built.
type sentFile struct {
	Path  string // on the supervisor's host
	Name  string // of the copy
	Mode  uint32
	Size  int64
	Sum   []byte
	Named bool // by the user: it is to be in the folder with all such files
}

// statPreload finds the files that the user has named.
func statPreload(names []string) (paths []string, err error) {
	seen := map[string]string{}
	for _, name := range names {
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, fail(StatusInternal, "%w", err)
		}
		st, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, fail(StatusUsage, "preload: %w", err)
		case !st.Mode().IsRegular():
			return nil, fail(StatusUsage, "preload: %s is no regular file", name)
		}
		base := filepath.Base(path)
		if other := seen[base]; other == path {
			continue
		} else if other != "" {
			return nil, fail(StatusUsage, "preload: %s and %s would have the same name", other, path)
		}
		seen[base] = path
		paths = append(paths, path)
	}
	return paths, nil
}

// readSent looks at a file that is to be sent.
func readSent(path string, named bool) (f sentFile, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return f, err
	}
	f = sentFile{Path: path, Name: filepath.Base(path), Mode: uint32(st.Mode().Perm()), Size: st.Size(), Named: named}
	f.Sum, err = fileSum(path)
	return f, err
}

// fileSum is the SHA-256 of a file.
func fileSum(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
