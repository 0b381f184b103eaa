package lint

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/verbena-mpi/verbena"

// allowed says which of this module's packages a package may import, by prefix.
// The first row whose name is the package, or is a folder above it, counts.
// "x/..." stands for x and what is below it.
var allowed = []struct {
	pkg     string
	imports []string
}{
	{"verbs/verbstest", []string{"verbs"}},
	{"verbs/shm", []string{"verbs", "internal/..."}},
	{"verbs/sim", []string{"verbs", "internal/..."}},
	{"verbs/inproc", []string{"verbs", "internal/..."}},
	{"verbs/tcp", []string{"verbs", "internal/..."}},
	{"verbs/ibv", []string{"verbs", "internal/..."}},
	{"verbs", nil},
	{"progress", []string{"verbs"}},
	{"srq", []string{"verbs", "progress"}},
	{"eager", []string{"verbs", "progress", "srq"}},
	// rendezvous sends its control messages through eager's endpoints.
	{"rendezvous", []string{"verbs", "progress", "srq", "eager"}},
	{"internal/jobtest/ranks", []string{"comm"}},
	{"internal/conformance", []string{"comm", "comm/..."}},
	// The doctor says which addresses the device would use.
	{"internal/doctor", []string{"internal/...", "verbs/tcp"}},
	{"internal", []string{"internal/..."}},
	{"comm/coll", []string{"comm"}},
	{"comm/commtest", []string{"comm", "launcher", "internal/..."}},
	{"comm", []string{"eager", "rendezvous", "srq", "progress", "verbs", "internal/..."}},
	{"launcher", []string{"launcher/...", "internal/..."}},
	{"examples", []string{"comm", "comm/coll"}},
	{"osu", []string{"osu/...", "comm", "comm/coll", "internal/..."}},
}

// deviceLists are the files of comm that name the devices. No other may.
var deviceLists = []string{"comm/devices_linux.go", "comm/devices_other.go"}

// verdict says why file may not import pkg (both relative to the module), or "".
func verdict(file, pkg string) string {
	from := path.Dir(file)
	for _, list := range deviceLists {
		if file == list && strings.HasPrefix(pkg, "verbs/") {
			return ""
		}
	}
	for _, rule := range allowed {
		if from != rule.pkg && !strings.HasPrefix(from, rule.pkg+"/") {
			continue
		}
		for _, ok := range rule.imports {
			below, tree := strings.CutSuffix(ok, "/...")
			if pkg == ok || tree && (pkg == below || strings.HasPrefix(pkg, below+"/")) {
				return ""
			}
		}
		return file + " imports " + pkg + ": " + rule.pkg + " may import " + strings.Join(rule.imports, ", ")
	}
	return file + ": no rule says what " + from + " may import"
}

// Imports go down only.
func TestImports(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		// Tests may reach further: a protocol is tested over a device.
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		files++
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if pkg, ok := strings.CutPrefix(p, module+"/"); ok {
				if why := verdict(filepath.ToSlash(rel), pkg); why != "" {
					t.Error(why)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Fatalf("only %d files were looked at: is this the module's root? %s", files, must(os.Getwd()))
	}
}

func must(s string, err error) string {
	if err != nil {
		return err.Error()
	}
	return s
}

// The rules refuse what they shall.
func TestVerdict(t *testing.T) {
	for _, v := range []struct {
		file, pkg string
		ok        bool
	}{
		{"comm/send.go", "eager", true},
		{"comm/send.go", "verbs/shm", false},
		{"comm/devices_linux.go", "verbs/shm", true},
		{"eager/layer.go", "verbs/shm", false},
		{"eager/layer.go", "comm", false},
		{"eager/layer.go", "rendezvous", false},
		{"progress/engine.go", "eager", false},
		{"srq/srq.go", "eager", false},
		{"verbs/shm/qp.go", "verbs", true},
		{"verbs/shm/qp.go", "verbs/sim", false},
		{"verbs/shm/qp.go", "progress", false},
		{"verbs/device.go", "internal/match", false},
		{"launcher/job.go", "comm", false},
		{"launcher/verbrun/main.go", "launcher", true},
		{"internal/match/table.go", "comm", false},
		{"examples/ring/main.go", "comm", true},
		{"examples/ring/main.go", "progress", false},
		{"osu/latency/main.go", "osu/harness", true},
		{"osu/latency/main.go", "progress", false},
		{"strange/x.go", "comm", false},
	} {
		if why := verdict(v.file, v.pkg); (why == "") != v.ok {
			t.Errorf("%s imports %s: %q", v.file, v.pkg, why)
		}
	}
}
