package comm

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
)

func TestProfile(t *testing.T) {
	t.Chdir(t.TempDir())
	log := logrus.New()
	p, err := startProfile("cpu", 7, log)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := startProfile("cpu", 8, log); err == nil || !strings.Contains(err.Error(), "VERBENA_PPROF=cpu: ") {
		t.Errorf("a second one at the same time: %v", err)
	}
	p.stop()
	p.stop()
	b, err := os.ReadFile("rank-7.pprof")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z); err != nil || !bytes.Contains(b, []byte("nanoseconds")) {
		t.Errorf("%d bytes, %v: no complete profile", len(b), err)
	}
}

func TestNoProfile(t *testing.T) {
	t.Chdir(t.TempDir())
	if p, err := startProfile("", 0, nil); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	} else {
		p.stop()
	}
	if _, err := startProfile("heap", 0, nil); err == nil || err.Error() != "VERBENA_PPROF=heap: want cpu" {
		t.Error(err)
	}
	if err := os.Mkdir("rank-0.pprof", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := startProfile("cpu", 0, nil); err == nil || !strings.Contains(err.Error(), "VERBENA_PPROF=cpu: open rank-0.pprof: ") {
		t.Error(err)
	}
}
