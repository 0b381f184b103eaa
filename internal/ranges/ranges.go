// Package ranges writes and reads lists of numbers as 0-3,7: of cores, ranks,
// processes.
package ranges

import (
	"strconv"
	"strings"
)

// Format writes ascending numbers.
func Format(ids []int) string {
	var b strings.Builder
	for i := 0; i < len(ids); {
		j := i
		for j+1 < len(ids) && ids[j+1] == ids[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(ids[i]))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(ids[j]))
		}
		i = j + 1
	}
	return b.String()
}

// Parse reads what Format writes, and leaves out what isn't that: also a range of more
// than 65,537 numbers. Spaces around the list don't count.
func Parse(s string) []int {
	var ids []int
	for f := range strings.SplitSeq(strings.TrimSpace(s), ",") {
		from, to, both := strings.Cut(f, "-")
		if !both {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || b-a > 1<<16 {
			continue
		}
		for i := range b - a + 1 {
			ids = append(ids, a+i)
		}
	}
	return ids
}
