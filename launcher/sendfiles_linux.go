package launcher

import (
	"io"
	"os"
	"path/filepath"
)

// collect notes which files other hosts need, and makes the folder of those that
// the user has named for the ranks of this host.
func (v *supervisor) collect() error {
	if len(v.hosts) == 0 && len(v.spec.Preload) == 0 {
		return nil
	}
	for _, path := range v.spec.Preload {
		f, err := readSent(path, true)
		if err != nil {
			return fail(StatusUsage, "preload: %w", err)
		}
		v.sent = append(v.sent, f)
	}
	for i := range v.spec.Parts {
		p := &v.spec.Parts[i]
		if p.Program.Package == "" || v.sentIndex(p) >= 0 {
			continue
		}
		f, err := readSent(p.Program.File, false)
		if err != nil {
			return fail(StatusInternal, "%w", err)
		}
		v.sent = append(v.sent, f)
	}
	if len(v.spec.Preload) == 0 {
		return nil
	}
	self, err := readSent("/proc/self/exe", false)
	if err != nil {
		return fail(StatusInternal, "this program: %w", err)
	}
	v.self = self
	v.preloaded = filepath.Join(v.spec.TempDir, "preload")
	if err := os.Mkdir(v.preloaded, 0o700); err != nil {
		return fail(StatusInternal, "%w", err)
	}
	for _, f := range v.sent {
		if !f.Named {
			continue
		}
		if err := os.Symlink(f.Path, filepath.Join(v.preloaded, f.Name)); err != nil {
			return fail(StatusInternal, "%w", err)
		}
	}
	return nil
}

// sentIndex finds a part's program among the files that are sent: -1 if it isn't.
func (v *supervisor) sentIndex(p *part) int {
	path, err := filepath.Abs(p.Program.File)
	if err != nil {
		return -1
	}
	for i, f := range v.sent {
		if f.Path == path {
			return i
		}
	}
	return -1
}

// send sends files that a host lacks.
func (v *supervisor) send(h *host, files []int) {
	for _, i := range files {
		if i < 0 || i >= len(v.sent) {
			continue
		}
		if err := v.sendOne(h, i); err != nil {
			v.log.Debugf("%s: sending %s: %v", h.name, v.sent[i].Path, err) // it will say what it misses
		}
	}
}

func (v *supervisor) sendOne(h *host, i int) error {
	s, err := openStream(h.session, streamFile, i)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	f, err := os.Open(v.sent[i].Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.CopyBuffer(struct{ io.Writer }{s}, f, make([]byte, pumpSize))
	return err
}
