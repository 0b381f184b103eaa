package launcher

import "strings"

// inDir is a command for a shell.
func inDir(dir string, words []string) string {
	q := make([]string, len(words))
	for i, s := range words {
		q[i] = shellQuote(s)
	}
	line := strings.Join(q, " ")
	if dir != "" {
		line = "cd " + shellQuote(dir) + " && " + line
	}
	return line
}

// shellQuote makes one word of anything.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r))
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
