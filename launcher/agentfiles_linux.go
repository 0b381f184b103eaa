package launcher

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// fileLimit is how long nothing may come of a file that is being sent.
const fileLimit = 30 * time.Second

// gather looks which of the files are here, with the same contents, and returns
// the others.
func (a *agent) gather() (missing []int, err error) {
	named := false
	a.files = make([]string, len(a.spec.Files))
	for i, f := range a.spec.Files {
		named = named || f.Named
		if sum, err := fileSum(f.Path); err == nil && bytes.Equal(sum, f.Sum) {
			a.files[i] = f.Path
		} else {
			missing = append(missing, i)
		}
	}
	if !named && len(missing) == 0 {
		return nil, nil
	}
	for _, dir := range []string{a.preloaded(), a.programs()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fail(StatusHost, "a folder for copies: %w", err)
		}
	}
	for i, f := range a.spec.Files {
		if f.Named && a.files[i] != "" {
			if err := os.Symlink(a.files[i], filepath.Join(a.preloaded(), f.Name)); err != nil {
				return nil, fail(StatusHost, "a folder for copies: %w", err)
			}
		}
	}
	return missing, nil
}

// preloaded is the folder that ranks find in their environment, programs that of
// other copies.
func (a *agent) preloaded() string { return filepath.Join(a.home, "preload") }
func (a *agent) programs() string  { return filepath.Join(a.home, "programs") }

// receive takes the files that were missing.
func (a *agent) receive(files []int) error {
	for _, i := range files {
		f := a.spec.Files[i]
		dir := a.preloaded()
		if !f.Named {
			dir = a.programs()
		}
		name := filepath.Join(dir, f.Name)
		if !filepath.IsLocal(f.Name) {
			return fail(StatusHost, "%q is no name of a file", f.Name)
		}
		if err := a.receiveOne(i, f, name); err != nil {
			return fail(StatusHost, "copying %s: %w", f.Path, err)
		}
		a.files[i] = name
	}
	return nil
}

func (a *agent) receiveOne(i int, f sentFile, name string) (err error) {
	s, err := a.stream(streamFile, i)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, os.FileMode(f.Mode)&0o700|0o200)
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.CopyBuffer(io.MultiWriter(to, h), &patient{s}, make([]byte, pumpSize))
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	if n != f.Size || !bytes.Equal(h.Sum(nil), f.Sum) {
		return fmt.Errorf("%d bytes came that aren't the file's %d: has it been changed?", n, f.Size)
	}
	return nil
}

// patient is a stream of which something must come now and then.
type patient struct {
	s interface {
		io.Reader
		SetReadDeadline(time.Time) error
	}
}

func (p *patient) Read(b []byte) (int, error) {
	_ = p.s.SetReadDeadline(time.Now().Add(fileLimit))
	return p.s.Read(b)
}
