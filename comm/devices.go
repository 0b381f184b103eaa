package comm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs"
)

// deviceKind is a device that this system has.
type deviceKind struct {
	name string
	near bool // it is for ranks of one machine
	// inside: it is for ranks that are goroutines of one process, and they wait on
	// channels. It is not used beside others, and only where it is asked for by name or
	// there is nothing else.
	inside  bool
	open    func(opening) (verbs.Device, error)
	reaches func(addr []byte) bool // says whether a device at addr can be reached, as far as is known here
}

// opening is what a device is opened with.
type opening struct {
	settings settings
	ranks    int
	local    *bootstrap.Local // or nil
	secret   secret.Secret    // the job's, for a device that isn't near
	log      *logrus.Logger
}

// Devices are the names of the devices that ranks of this system can talk over, the
// one that is chosen first. The last is only for ranks that are goroutines of one
// process.
func Devices() []string {
	var names []string
	for _, k := range deviceKinds {
		names = append(names, k.name)
	}
	return names
}

// deviceList is the devices that ranks may talk over, the one that is chosen first.
type deviceList struct {
	text  string // as it was set
	kinds []*deviceKind
}

// parseDevices reads auto, or names with commas between.
func parseDevices(text string) (deviceList, error) {
	l := deviceList{text: text}
	if text == "auto" {
		for i := range deviceKinds {
			if !deviceKinds[i].inside {
				l.kinds = append(l.kinds, &deviceKinds[i])
			}
		}
		return l, nil
	}
	names := strings.Split(text, ",")
	for _, name := range names {
		if !slices.Contains(Devices(), name) {
			return l, fmt.Errorf("no device %q: this system has %q", name, Devices())
		}
	}
	for i := range deviceKinds { // in the order in which they are chosen
		if !slices.Contains(names, deviceKinds[i].name) {
			continue
		}
		l.kinds = append(l.kinds, &deviceKinds[i])
		if deviceKinds[i].inside && len(l.kinds) > 1 {
			return l, fmt.Errorf("device %s goes with no other", deviceKinds[i].name)
		}
	}
	return l, nil
}

// forJob is the list for a job: what is for ranks of one process only is for no other.
func (l deviceList) forJob(local *bootstrap.Local) (deviceList, error) {
	if local != nil && local.Device != "" {
		return parseDevices(local.Device)
	}
	switch {
	case local == nil && l.inside():
		return l, fmt.Errorf("device %s is for ranks that are goroutines of one process", l.text)
	case local == nil && len(l.kinds) == 0:
		return l, fmt.Errorf("this system has no device between processes")
	case len(l.kinds) == 0:
		l.kinds = []*deviceKind{&deviceKinds[len(deviceKinds)-1]}
	}
	return l, nil
}

// near and far are the devices for ranks of one machine, and for others; nil if there is
// none.
func (l deviceList) near() *deviceKind { return l.find(true) }
func (l deviceList) far() *deviceKind  { return l.find(false) }

func (l deviceList) find(near bool) *deviceKind {
	for _, k := range l.kinds {
		if k.near == near {
			return k
		}
	}
	return nil
}

// inside says whether the ranks are goroutines that wait on channels.
func (l deviceList) inside() bool { return len(l.kinds) > 0 && l.kinds[0].inside }
