package hostlist

import "strings"

// Choice is what a list on a command line says, as "a,b:2,user@c,^d".
type Choice struct {
	Hosts []Host // may be empty, if some are left out
	out   list
}

// ParseArg reads a list of a command line. The name is the flag's, for messages.
func ParseArg(name, text string) (Choice, error) {
	var c Choice
	if len(text) > maxText {
		return c, &Error{File: name, Want: "a list of at most 4 MiB"}
	}
	column := 1
	for item := range strings.SplitSeq(text, ",") {
		w := word{strings.TrimRight(item, " \t\r\n"), column}
		w = w.after(len(w.text) - len(strings.TrimLeft(w.text, " \t\r\n")))
		e, err := parseHost(w)
		if err == nil {
			e.File = name
			err = c.out.add(e)
		}
		if err != nil {
			err.File = name
			if err.Text == "" && w.text == "" {
				err.Want = "hosts with commas between them, as a,b:2,user@c"
			}
			if err.Column == 0 {
				err.Column = w.column
			}
			return c, err
		}
		column += len([]rune(item)) + 1
	}
	c.Hosts = c.out.hosts()
	if len(c.Hosts) == 0 && len(c.out.found) > 0 {
		return c, &Error{File: name, Text: text, Want: "a host that isn't left out"}
	}
	return c, nil
}
