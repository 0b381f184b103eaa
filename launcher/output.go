package launcher

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Output says what becomes of what ranks print. The zero value passes it on as
// it is.
type Output struct {
	Tag   bool   // each line begins with "[rank] "
	Stamp bool   // each line begins with the local time
	Files string // if not empty: written to Files.RANK.out and Files.RANK.err
}

// Input says which ranks get the launcher's standard input. The others are at
// its end at once.
type Input int

const (
	InputFirst Input = iota // rank 0
	InputAll                // every rank gets all of it
	InputNone
)

// reaches says whether a rank gets input.
func (i Input) reaches(rank int) bool { return i == InputAll || i == InputFirst && rank == 0 }

// ParseInput reads the value of --stdin.
func ParseInput(s string) (Input, error) {
	switch s {
	case "", "0":
		return InputFirst, nil
	case "all":
		return InputAll, nil
	case "none":
		return InputNone, nil
	}
	return 0, fmt.Errorf("%q is none of 0, all, none", s)
}

// speaker is a rank's, on one of its streams.
func (o Output) speaker(rank int) speaker {
	if !o.Tag {
		return speaker{}
	}
	return speaker{tag: fmt.Sprintf("[%d] ", rank)}
}

// create makes a rank's file of one stream, empty. Names sort by rank.
func (o Output) create(rank, size int, ext string) (*sink, error) {
	digits := len(strconv.Itoa(size - 1))
	name := fmt.Sprintf("%s.%0*d.%s", o.Files, digits, rank, ext)
	// A named pipe without a reader is an error and no wait.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return nil, fail(StatusUsage, "output file: %w", err)
	}
	return &sink{w: f, page: &page{}, stamp: o.Stamp}, nil
}

// closeFile closes a sink that create made: some file systems say only then
// that there is no room.
func (s *sink) closeFile() {
	s.page.mu.Lock()
	defer s.page.mu.Unlock()
	if f, ok := s.w.(*os.File); ok {
		s.dead = errors.Join(s.dead, f.Close())
	}
}
