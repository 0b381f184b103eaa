package main

import (
	"fmt"
	"os"
	"strings"
)

// variables lists what -x and --env-file give, as NAME=VALUE. What comes later
// counts, and -x comes after all files.
func variables(files, vars []string) ([]string, error) {
	var env []string
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("--env-file: %w", err)
		}
		n := 0
		for line := range strings.Lines(string(b)) {
			n++
			line = strings.TrimRight(line, "\r\n")
			if text := strings.TrimSpace(line); text == "" || text[0] == '#' {
				continue
			}
			kv, err := variable(line)
			if err != nil {
				return nil, fmt.Errorf("--env-file: %s:%d: %w", name, n, err)
			}
			env = append(env, kv)
		}
	}
	for _, v := range vars {
		kv, err := variable(v)
		if err != nil {
			return nil, fmt.Errorf("-x: %w", err)
		}
		env = append(env, kv)
	}
	return env, nil
}

// variable adds the value that a lone name has here.
func variable(s string) (string, error) {
	name, _, ok := strings.Cut(s, "=")
	switch {
	case name == "" || strings.ContainsAny(name, " \t"):
		return "", fmt.Errorf("%q: expected NAME=VALUE or NAME", s)
	case ok:
		return s, nil
	}
	v, ok := os.LookupEnv(name)
	if !ok {
		return "", fmt.Errorf("%s isn't set here: expected NAME=VALUE, or the name of a variable that is set", name)
	}
	return name + "=" + v, nil
}
