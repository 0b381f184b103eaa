package harness

// ExitStatus is an error that carries only an exit status: whatever there was
// to say has been printed. It has no text, so that nothing is printed after it.
type ExitStatus int

func (ExitStatus) Error() string { return "" }

// ExitCode is the status that the program should end with.
func (s ExitStatus) ExitCode() int { return int(s) }
