package doctor

import (
	"path"
	"strconv"
	"strings"
)

// group is a control group: a folder of files with limits.
type group struct {
	m   *Machine
	dir string
}

// groups are those that this process is in and that limit something, the innermost first.
// There are two versions of control groups; where both are mounted both are looked at.
func (m *Machine) groups(controller string) []group {
	text, err := m.read("proc/self/cgroup")
	if err != nil {
		return nil
	}
	var all []group
	for line := range strings.Lines(text) {
		// hierarchy:controllers:path
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		mount := ""
		switch {
		case f[0] == "0" && f[1] == "":
			mount = "sys/fs/cgroup"
			if _, err := m.read(mount + "/cgroup.controllers"); err != nil {
				mount = "sys/fs/cgroup/unified"
			}
		case hasWord(f[1], controller):
			mount = "sys/fs/cgroup/" + controller
		default:
			continue
		}
		// In a container the path may be the host's, and its own group lies at the mount.
		for dir := path.Clean("/" + f[2]); ; dir = path.Dir(dir) {
			all = append(all, group{m, path.Join(mount, dir)})
			if dir == "/" {
				break
			}
		}
	}
	return all
}

// read returns the words of a group's file.
func (g group) read(name string) []string {
	text, err := g.m.read(path.Join(g.dir, name))
	if err != nil {
		return nil
	}
	return strings.Fields(text)
}

// number reads a limit, or a count; false if there is none.
func (g group) number(name string) (uint64, bool) {
	f := g.read(name)
	if len(f) == 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(f[0], 10, 64)
	return n, err == nil // "max" is none
}

func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}
