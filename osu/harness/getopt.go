package harness

import "strings"

// takes says whether an option has a value.
type takes int

const (
	nothing  takes = iota
	required       // -m 8, -m8, --message-size 8, --message-size=8
	optional       // attached only: -z, -z50,99, --tail-lat=50,99
)

// option is one option of a command line, in the forms of getopt_long.
type option struct {
	short byte // 0: it has only a long form
	long  string
	takes takes
	value string // of what it takes, as in the usage text
	help  string
	set   func(o *Options, value string) bool // false: the value is not valid
	what  string                              // what is wrong then: "Invalid " is put before it
}

// usageError is a command line that was not understood. Its text is what the
// C suite prints for it.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// getopt applies args to o. Options may be bundled (-cz), and end at "--".
func getopt(o *Options, table []option, args []string) error {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var err error
		switch {
		case arg == "--" && len(args) == 0:
		case arg == "--":
			return &usageError{"Invalid argument [" + args[0] + "]"}
		case strings.HasPrefix(arg, "--"):
			args, err = long(o, table, arg[2:], args)
		case len(arg) > 1 && arg[0] == '-':
			args, err = bundle(o, table, arg[1:], args)
		default:
			err = &usageError{"Invalid argument [" + arg + "]"}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// long applies one long option, and returns the arguments that it left.
func long(o *Options, table []option, arg string, rest []string) ([]string, error) {
	name, value, attached := strings.Cut(arg, "=")
	for i := range table {
		opt := &table[i]
		if opt.long != name {
			continue
		}
		if attached && opt.takes == nothing {
			return nil, &usageError{"Invalid option [--" + arg + "]"}
		}
		if !attached && opt.takes == required {
			if len(rest) == 0 {
				return nil, &usageError{"Missing argument [--" + name + "]"}
			}
			value, rest = rest[0], rest[1:]
		}
		return rest, apply(o, opt, "--"+name, value)
	}
	return nil, &usageError{"Invalid option [--" + name + "]"}
}

// bundle applies the short options of one argument, and returns the arguments
// that they left.
func bundle(o *Options, table []option, letters string, rest []string) ([]string, error) {
	for letters != "" {
		opt := short(table, letters[0])
		if opt == nil {
			return nil, &usageError{"Invalid option [-" + letters[:1] + "]"}
		}
		name := "-" + letters[:1]
		letters = letters[1:]
		value := ""
		if opt.takes != nothing {
			value, letters = letters, ""
		}
		if opt.takes == required && value == "" {
			if len(rest) == 0 {
				return nil, &usageError{"Missing argument [" + name + "]"}
			}
			value, rest = rest[0], rest[1:]
		}
		if err := apply(o, opt, name, value); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

func short(table []option, letter byte) *option {
	for i := range table {
		if table[i].short != 0 && table[i].short == letter {
			return &table[i]
		}
	}
	return nil
}

func apply(o *Options, opt *option, name, value string) error {
	if opt.set(o, value) {
		return nil
	}
	return &usageError{"Invalid " + opt.what + " [" + name + " " + value + "]"}
}
