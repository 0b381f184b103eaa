package comm

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
)

func (l deviceList) names() (names []string) {
	for _, k := range l.kinds {
		names = append(names, k.name)
	}
	return names
}

// Names in any order are used in the order in which devices are chosen; what is for
// goroutines of one process is for nothing else.
func TestDeviceList(t *testing.T) {
	all := Devices()
	last := all[len(all)-1]
	between := all[:len(all)-1] // processes
	inside := bootstrap.NewLocal(2, "")
	for _, v := range []struct {
		name, text string
		local      *bootstrap.Local
		want       []string
		err        string
	}{
		{name: "auto", text: "auto", want: between},
		{name: "all, the last one first", text: strings.Join(backward(between), ","), want: between},
		{name: "of goroutines", text: last, local: inside, want: []string{last}},
		{name: "of goroutines, for processes", text: last, err: "goroutines of one process"},
		{name: "of goroutines, beside another", text: strings.Join(all, ","), err: "device " + last + " goes with no other"},
		{name: "the job's", text: "auto", local: bootstrap.NewLocal(2, last), want: []string{last}},
		{name: "the job's, of which there is none", text: "auto", local: bootstrap.NewLocal(2, "string"), err: `no device "string"`},
		{name: "none", text: "", err: `no device ""`},
		{name: "twice", text: last + "," + last, local: inside, want: []string{last}},
	} {
		t.Run(v.name, func(t *testing.T) {
			if len(between) == 0 {
				t.Skip("no device between processes")
			}
			l, err := parseDevices(v.text)
			if err == nil {
				l, err = l.forJob(v.local)
			}
			if v.err != "" {
				if err == nil || !strings.Contains(err.Error(), v.err) {
					t.Errorf("%v, want %s", err, v.err)
				}
				return
			}
			if d := cmp.Diff(v.want, l.names()); d != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, d)
			}
		})
	}
}

func backward(s []string) []string {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}
