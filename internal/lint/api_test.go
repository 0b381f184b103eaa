package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// docs/API.md says for each call of MPI's chapters what it is called here, and where it
// is tested. What it names must exist, and a call that is not here needs a reason.
func TestAPIPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "API.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := exported(t, "comm", "comm/coll", "comm/commtest")
	tests := testNames(t)
	rows := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| `MPI_") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			t.Errorf("%d cells, want 3: %s", len(cells), line)
			continue
		}
		here := strings.TrimSpace(cells[1])
		if reason, none := strings.CutPrefix(here, "not here: "); none {
			if len(reason) < 10 {
				t.Errorf("no reason: %s", line)
			}
			continue
		}
		found := quoted.FindAllStringSubmatch(here, -1)
		if len(found) == 0 {
			t.Errorf("no name: %s", line)
		}
		for _, m := range found {
			if name := strings.TrimSuffix(m[1], "()"); !names[name] {
				t.Errorf("there is no %s: %s", name, line)
			}
		}
		found = quoted.FindAllStringSubmatch(cells[2], -1)
		if len(found) == 0 {
			t.Errorf("no test: %s", line)
		}
		for _, m := range found {
			if !tests[m[1]] {
				t.Errorf("there is no %s: %s", m[1], line)
			}
		}
	}
	if rows < 60 {
		t.Errorf("only %d rows", rows)
	}
}

// exported are the exported names of packages: functions, types, constants, variables,
// and Type.Method and Type.Field.
func exported(t *testing.T, packages ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, pkg := range packages {
		prefix := ""
		if pkg != "comm" {
			prefix = filepath.Base(pkg) + "."
		}
		eachFile(t, filepath.Join(root, pkg), false, func(f *ast.File) {
			for _, d := range f.Decls {
				for _, name := range declared(d) {
					names[prefix+name] = true
				}
			}
		})
	}
	return names
}

func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		return []string{receiver(d.Recv.List[0].Type) + "." + d.Name.Name}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
				if st, ok := s.Type.(*ast.StructType); ok {
					for _, field := range st.Fields.List {
						for _, n := range field.Names {
							names = append(names, s.Name.Name+"."+n.Name)
						}
					}
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// testNames are the tests and examples of the module, and the behaviours of the table
// of conformance, as Conformance/Name.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if path != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		eachFile(t, path, true, func(f *ast.File) {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
					names[fn.Name.Name] = true
				}
			}
			if f.Name.Name != "conformance" {
				return
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if row, ok := n.(*ast.CompositeLit); ok && len(row.Elts) == 3 {
					if name, ok := row.Elts[0].(*ast.BasicLit); ok && name.Kind == token.STRING {
						names["Conformance/"+strings.Trim(name.Value, `"`)] = true
					}
				}
				return true
			})
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// eachFile parses the Go files of a folder, its tests or the others.
func eachFile(t *testing.T, dir string, tests bool, f func(*ast.File)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		f(file)
	}
}
