package knobs

import (
	"slices"
	"strings"
	"testing"
)

func TestAll(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range slices.Concat(All, Meeting) {
		if !strings.HasPrefix(k.Name, Prefix) || seen[k.Name] || Unknown(k.Name) {
			t.Errorf("%s: no name of a setting, or twice", k.Name)
		}
		seen[k.Name] = true
		if !strings.HasSuffix(k.Sentence, ".") {
			t.Errorf("%s: %q is no sentence", k.Name, k.Sentence)
		}
		if got := Default(k.Name); got != k.Default {
			t.Errorf("%s: default %q, expected %q", k.Name, got, k.Default)
		}
		if k.Unit == "duration" && Duration(k.Name) <= 0 {
			t.Errorf("%s: default %q", k.Name, k.Default)
		}
	}
}

func TestUnknown(t *testing.T) {
	for name, want := range map[string]bool{
		"VERBENA_FOO": true, "VERBENA_": true,
		"VERBENA_RECV": false, "VERBENA_OWN_CORE": false, "VERBENA_LONG": false, "PATH": false, "verbena_foo": false,
		"VERBENA_PORT": false, "VERBENA_SERVICE_HOST": false, "VERBENA_PORT_80_TCP": false,
	} {
		if got := Unknown(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
