package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// otherNames are mpirun's names of flags that have another one here.
var otherNames = map[string]string{
	"np": "n", "wd": "wdir", "cwd": "wdir",
	"f": "hostfile", "machinefile": "hostfile", "hosts": "host", "H": "host",
	"perhost": "ppn", "npernode": "ppn", "N": "ppn", "display-map": "display=map",
}

// mpirunStyle rewrites mpirun's spellings of flags, up to the program's name:
// -np, -f, and long names after a single dash.
func mpirunStyle(flags *pflag.FlagSet, args []string) []string {
	out := append([]string{}, args...)
	for i := 0; i < len(out) && len(out[i]) > 1 && out[i][0] == '-' && out[i] != "--"; i++ {
		out[i] = ourSpelling(flags, out[i])
		if takesNext(flags, out[i]) {
			i++
		}
	}
	return out
}

func ourSpelling(flags *pflag.FlagSet, arg string) string {
	name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if other, ok := otherNames[name]; ok {
		name = other
	} else if len(name) == 1 {
		return arg
	}
	if flags.Lookup(name) == nil && shortWithValue(flags, arg) {
		return arg
	}
	dashes := "--"
	if len(name) == 1 {
		dashes = "-"
	}
	if has {
		value = "=" + value
	}
	return dashes + name + value
}

// shortWithValue: as -n4.
func shortWithValue(flags *pflag.FlagSet, arg string) bool {
	if strings.HasPrefix(arg, "--") || len(arg) < 2 {
		return false
	}
	f := flags.ShorthandLookup(arg[1:2])
	return f != nil && f.NoOptDefVal == ""
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
