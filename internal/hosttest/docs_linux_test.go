package hosttest

import (
	"regexp"
	"slices"
	"testing"
)

var (
	wayRow     = regexp.MustCompile("(?m)^\\| ([^|]*) \\| `([^|]*)` \\|$")
	troubleRow = regexp.MustCompile(`(?m)^\| ([^|]*) \| [^|]* \| [^|]* \| [^|]* \| [^|]* \|$`)
)

// What the documentation has users type is what the tests type, for three hosts
// with two ranks each.
func TestWaysTable(t *testing.T) {
	type row struct{ name, line string }
	var documented, tested []row
	for _, m := range wayRow.FindAllStringSubmatch(section(t, "Ways to start"), -1) {
		documented = append(documented, row{m[1], m[2]})
	}
	for _, w := range ways {
		s := shape{3, 2}
		line := w.typed(s, "./program")
		if w.line == "" {
			line = "VERBENA_RANK=0 VERBENA_SIZE=6 VERBENA_MEET=h0:4711 VERBENA_SECRET_FILE=secret ./program"
		}
		tested = append(tested, row{w.name, line})
	}
	if !slices.Equal(documented, tested) {
		t.Errorf("documented: %q\ntested: %q", documented, tested)
	}
}

// All troubles of the tests are documented, and no others.
func TestTroubleTable(t *testing.T) {
	var documented, tested []string
	for _, m := range troubleRow.FindAllStringSubmatch(section(t, "When something breaks"), -1) {
		if m[1] != "" && m[1] != "---" {
			documented = append(documented, m[1])
		}
	}
	for _, tr := range troubles {
		tested = append(tested, tr.name)
	}
	if !slices.Equal(documented, tested) {
		t.Errorf("documented: %q\ntested: %q", documented, tested)
	}
}
