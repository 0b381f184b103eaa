package secret

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Secret(rapid.SliceOfN(rapid.Byte(), Size, Size).Filter(func(b []byte) bool { return !Secret(b).None() }).Draw(t, "secret"))
		got, err := Parse(s.Text())
		if err != nil || !got.Equal(s) {
			t.Fatal(err)
		}
	})
	text := New().Text()
	for name, bad := range map[string]string{
		"nothing": "", "too short": text[2:], "too long": text + "00", "not hexadecimal": "g" + text[1:],
		"a newline": text[1:] + "\n", "zero": strings.Repeat("0", 64),
	} {
		s, err := Parse(bad)
		if err == nil || !s.None() {
			t.Errorf("%s: taken", name)
		} else if strings.Contains(err.Error(), text[10:20]) {
			t.Errorf("%s: the error tells: %v", name, err)
		}
	}
}

func TestNew(t *testing.T) {
	if a, b := New(), New(); a.Equal(b) || a.None() || b.None() {
		t.Error("not random")
	}
}

func TestDerive(t *testing.T) {
	s := New()
	a, b := s.Derive("a"), s.Derive("b")
	if a.Equal(b) || a.Equal(s) || a.Derive("b").Equal(b) || New().Derive("a").Equal(a) {
		t.Error("purposes or secrets don't differ")
	}
	if !a.Equal(s.Derive("a")) {
		t.Error("not always the same")
	}
	if !(Secret{}).Derive("a").None() {
		t.Error("none became one")
	}
	// By another implementation of HKDF-SHA-256, so that versions of this code agree.
	fixed := Secret{31: 1}
	if got, want := fixed.Derive("test").Text(), "85a4ce49b8c6e89ca0cdde6b2a0a43df6bc11c98a250a7290d2a0152772186fe"; got != want {
		t.Errorf("derived %s, expected %s", got, want)
	}
}

// No way of printing tells anything, on its own or within other values.
func TestHidden(t *testing.T) {
	s := New()
	within := struct {
		S Secret
		P *Secret
		L []Secret
		M map[string]any
	}{s, &s, []Secret{s}, map[string]any{"k": s}}
	var said []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%U", "%t", "%08x", "% x"} {
		said = append(said, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, within), fmt.Sprintf(verb, &within))
	}
	said = append(said, fmt.Sprint(s), s.String(), fmt.Sprintln(within))
	for _, v := range []any{s, &s, within} {
		b, err := json.Marshal(v)
		if err == nil {
			t.Error("encoding/json took it")
		}
		said = append(said, string(b), fmt.Sprint(err))
	}
	forms := []string{hex.EncodeToString(s[:4]), strings.ToUpper(hex.EncodeToString(s[:4])), strings.Trim(fmt.Sprint(s[:4]), "[]"), string(s[:4])}
	for _, text := range said {
		for _, form := range forms {
			if strings.Contains(text, form) {
				t.Errorf("%q tells", text)
			}
		}
	}
}

func TestFromFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
		return path
	}
	good := "0123456789abcdef"
	a, err := FromFile(write("a", good, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.Text(), "98ae1db39efb5e6eaa46cef69454d5e8e22002f7ef4dfc2f1945e169170a2ab0"; got != want {
		t.Errorf("hashed to %s, expected %s", got, want)
	}
	for name, content := range map[string]string{"newline": good + "\n", "dos": good + "\r\n"} {
		if b, err := FromFile(write(name, content, 0o400)); err != nil || !b.Equal(a) {
			t.Errorf("%s: %v, or another secret", name, err)
		}
	}
	if b, err := FromFile(write("b", good+"g", 0o600)); err != nil || b.Equal(a) {
		t.Errorf("%v, or the same secret", err)
	}
	// As Kubernetes mounts them.
	link := filepath.Join(dir, "link")
	if err := os.Symlink("a", link); err == nil {
		if b, err := FromFile(link); err != nil || !b.Equal(a) {
			t.Errorf("through a link: %v, or another secret", err)
		}
	}
	for path, want := range map[string]string{
		write("short", good[:15], 0o600):                     "15 bytes, expected 16 or more",
		write("blank", strings.Repeat("\n", 50), 0o600):      "0 bytes",
		write("huge", strings.Repeat("x", maxFile+1), 0o600): "over 1048576 bytes",
		dir:                        "not a regular file",
		os.DevNull:                 "not a regular file",
		filepath.Join(dir, "none"): "none",
		filepath.Join(write("file", good, 0o600), "below"): "below",
	} {
		if s, err := FromFile(path); err == nil || !s.None() || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", path, err, want)
		} else if strings.Contains(err.Error(), good[:8]) {
			t.Errorf("%s: the error tells: %v", path, err)
		}
	}
	if _, err := FromFile(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestTooOpen(t *testing.T) {
	for _, c := range []struct {
		mode         os.FileMode
		roots, weAre bool
		want         string
	}{
		{0o600, false, false, ""},
		{0o400, true, true, ""},
		{0o700, false, false, ""},
		{0o640, false, false, "its mode is 0640: its group can read it"},
		{0o440, true, true, "its mode is 0440: its group can read it"},
		{0o440, true, false, ""}, // Kubernetes with runAsUser and fsGroup
		{0o460, true, false, "its group can change it"},
		{0o620, false, false, "its group can change it"},
		{0o604, false, false, "others can read"},
		{0o602, true, false, "others can read or change"},
		{0o644, true, false, "defaultMode: 0400"},
		{0o777, true, true, "chmod 600"},
	} {
		why := tooOpen(c.mode, c.roots, c.weAre)
		if text := fmt.Sprintf("its mode is %#o: %s", c.mode, why); (why == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%#o: %q, expected %q", c.mode, why, c.want)
		}
	}
}
