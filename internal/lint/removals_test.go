package lint

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var tryRemovals = flag.Bool("removals", false, "take the code of each rule away in a copy of the tree, and see its test fail")

// removal takes away the code that implements a rule of point-to-point
// communication (docs/TESTING.md has the rules). Its test must fail without it.
type removal struct {
	rule string
	file string
	code string // occurs once in file
	by   string // what it becomes
	pkg  string
	test string // for go test -run
}

const (
	root        = "../.."
	conformance = "internal/conformance"
)

var removals = []removal{
	{"1: the earliest receive wins", "internal/match/posted.go", "(*w).seq < (*p).seq", "(*w).seq > (*p).seq", conformance, "TestConformance/EarliestReceive"},
	{"2: wildcards", "internal/match/key.go", "f |= anyTag", "f |= exact", conformance, "TestConformance/AnySource"},
	{"3: a short send to oneself returns", "comm/self.go", "if !s.offered {", "if false {", "comm", "TestSelf"},
	{"4: a matched message is taken", "comm/message.go", "w.table.RemoveUnexpected(&u.msg)", "_ = u.msg", conformance, "TestConformance/Improbe"},
	{"5: empty messages are synchronous too", "comm/send.go", "mode == Sync || len", "mode == Sync && len(r.buf) > 0 || len", conformance, "TestConformance/SyncEmpty"},
	{"6: tags have bounds", "comm/comm.go", "if uint(tag) > MaxTag && !(recv && tag == AnyTag) {", "if tag == -1 {", conformance, "TestConformance/BadArguments"},
	{"7: communicators are apart", "comm/comm.go", "c.beside(twin)", "c.beside(0)", conformance, "TestConformance/Isolation"},
	{"8: a synchronous send waits", "comm/send.go", "mode == Sync || len", "len", conformance, "TestConformance/Sync"},
	{"9: in place", "comm/sendrecv.go", `"SendrecvReplace", s.b, dest`, `"SendrecvReplace", b, dest`, conformance, "TestConformance/SendrecvReplace"},
	{"10: an active request can't be started", "comm/persistent.go", "r.complete(ErrActive)", "r.complete(nil)", conformance, "TestConformance/Persistent"},
	{"11: no index starves", "comm/lists.go", "first := rand.IntN(n)", "first := 0 * rand.IntN(n)", "comm", "TestNoIndexStarves"},
	{"12: withdrawn or complete", "comm/cancel.go", "r.to == nil && w.table.Remove(&r.recv)", "r.to == nil", conformance, "TestConformance/CancelReceive"},
	{"13: truncation is an error", "comm/recv.go", "r.complete(ErrTruncated)", "r.complete(nil)", conformance, "TestConformance/Truncation"},
	{"15: what lies between is left alone", "internal/layout/layout.go", "l.loop([]dim{{count, stride}})", "l.loop([]dim{{count, block}})", conformance, "TestConformance/Column"},
	{"16: no pointers", "comm/types.go", `if where := pointerIn(t); where != "" {`, `if where := ""; where != pointerIn(t)[:0] {`, conformance, "TestConformance/BadArguments"},
	{"18: who floods gets no credits", "comm/quota.go", "p.ep.Hold(true)", "_ = p.ep", "comm", "TestFlood"},
	{"19: a message takes a credit", "eager/endpoint.go", "ep.seq++\n\t\tep.credits--\n", "ep.seq++\n", "eager", ""},
	{"25: who leaves hands the role over", "progress/drive.go", "e.driving, w.driver = false, false\n\t\t\te.handOver()", "e.driving, w.driver = false, false", "progress", "TestHandOver"},
}

// The code is where the table says, or the table is out of date.
func TestRemovalsApply(t *testing.T) {
	for _, r := range removals {
		b, err := os.ReadFile(filepath.Join(root, r.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(string(b), r.code); n != 1 {
			t.Errorf("rule %s: %s has %q %d times, want once", r.rule, r.file, r.code, n)
		}
	}
}

// TestRemovals takes each away in turn:
//
//	go test ./internal/lint -run TestRemovals -timeout 1h -v -args -removals
func TestRemovals(t *testing.T) {
	if !*tryRemovals {
		t.Skip("it takes a quarter of an hour: run it with -args -removals")
	}
	tree := t.TempDir()
	copyTree(t, root, tree)
	for _, r := range removals {
		t.Run(r.rule+"/"+r.test, func(t *testing.T) {
			file := filepath.Join(tree, r.file)
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := os.WriteFile(file, whole, 0o600); err != nil {
					t.Fatal(err)
				}
			}()
			less := bytes.Replace(whole, []byte(r.code), []byte(r.by), 1)
			if err := os.WriteFile(file, less, 0o600); err != nil {
				t.Fatal(err)
			}
			if out := goCommand(t, tree, "vet", "./"+filepath.Dir(r.file)); out != "" {
				t.Fatalf("without %q the package doesn't build:\n%s", r.code, out)
			}
			switch out := goCommand(t, tree, "test", "-count=1", "-timeout", "60s", "-run", r.test, "./"+r.pkg); {
			case out == "":
				t.Errorf("without %q in %s the test still passes", r.code, r.file)
			case !strings.Contains(out, "FAIL"):
				t.Errorf("not a failed test:\n%s", out)
			default:
				t.Logf("it failed, as it must:\n%s", head(out, 6))
			}
		})
	}
}

// goCommand runs the go command and returns its output if it fails, else "".
func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out) + err.Error()
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.Name() == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func head(text string, lines int) string {
	all := strings.SplitN(text, "\n", lines+1)
	return strings.Join(all[:min(len(all), lines)], "\n")
}
