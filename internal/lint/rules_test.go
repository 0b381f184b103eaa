package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The rules of point-to-point communication, by the numbers that docs/TESTING.md
// gives them, each have a test whose comment, or whose table's row, names the rule.
func TestRulesAreNamed(t *testing.T) {
	named := map[int][]string{}
	mention := regexp.MustCompile(`(?i)rules? ?(\d+(?:(?:, | and |, and )\d+)*)`)
	number := regexp.MustCompile(`\d+`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || d.Name() == "rules_test.go" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range mention.FindAllStringSubmatch(string(b), -1) {
			for _, n := range number.FindAllString(m[1], -1) {
				rule, err := strconv.Atoi(n)
				if err != nil {
					return err
				}
				named[rule] = append(named[rule], path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for rule := 1; rule <= 26; rule++ {
		if rule > 20 && rule < 25 {
			continue // of launching and of deaths
		}
		if len(named[rule]) == 0 {
			t.Errorf("no test names rule %d", rule)
		}
	}
}
