package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// mpirunStyle rewrites mpirun's spellings of flags, up to the program's name.
func mpirunStyle(flags *pflag.FlagSet, args []string) []string {
	out := append([]string{}, args...)
	for i := 0; i < len(out) && len(out[i]) > 1 && out[i][0] == '-' && out[i] != "--"; i++ {
		if out[i] == "-np" || out[i] == "--np" {
			out[i] = "-n"
		}
		if takesNext(flags, out[i]) {
			i++
		}
	}
	return out
}

// takesNext says whether the next argument is a flag's value.
func takesNext(flags *pflag.FlagSet, arg string) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	var f *pflag.Flag
	if name, long := strings.CutPrefix(arg, "--"); long {
		f = flags.Lookup(name)
	} else if len(arg) == 2 {
		f = flags.ShorthandLookup(arg[1:])
	}
	return f != nil && f.NoOptDefVal == ""
}
