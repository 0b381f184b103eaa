package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// text prints the report for a terminal.
func (r *report) text(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s\n", r.title)
	for _, n := range r.notes {
		fmt.Fprintf(&b, "  %s\n", n)
	}
	for _, s := range r.sections {
		fmt.Fprintf(&b, "\n%s\n", s.title)
		widths := s.widths()
		for _, row := range append([][]string{s.head}, s.rows...) {
			var line strings.Builder
			for i, cell := range row {
				line.WriteString(pad(cell, widths[i], i == 1) + "  ")
			}
			b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// widths returns the widths of the columns.
func (s *section) widths() []int {
	widths := make([]int, len(s.head))
	for _, row := range append([][]string{s.head}, s.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func pad(cell string, width int, left bool) string {
	space := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
	if left {
		return cell + space
	}
	return space + cell
}

// markdown prints the report as markdown.
func (r *report) markdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s\n\n", r.title)
	for _, n := range r.notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	for _, s := range r.sections {
		fmt.Fprintf(&b, "\n### %s\n\n", s.title)
		fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(s.head, " | "), strings.Repeat(" --- |", len(s.head)))
		for _, row := range s.rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
