package doctor

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// unlimited is a limit that isn't one.
const unlimited = math.MaxUint64

// limit reads the hard limit of this process that /proc calls so. Go raises the number of
// open files to it, and a user may raise the others.
func (m *Machine) limit(name string) (soft, hard uint64, known bool) {
	text, err := m.read("proc/self/limits")
	if err != nil {
		return 0, 0, false
	}
	for line := range strings.Lines(text) {
		rest, found := strings.CutPrefix(line, name)
		if f := strings.Fields(rest); found && len(f) >= 2 {
			soft, err1 := parseLimit(f[0], "unlimited")
			hard, err2 := parseLimit(f[1], "unlimited")
			return soft, hard, err1 == nil && err2 == nil
		}
	}
	return 0, 0, false
}

// parseLimit reads a number, or the word that stands for none.
func parseLimit(s, none string) (uint64, error) {
	if s == none {
		return unlimited, nil
	}
	return strconv.ParseUint(s, 10, 64)
}

func memlock(_ context.Context, m *Machine) Finding {
	soft, _, known := m.limit("Max locked memory")
	adapters := m.adapters()
	const enough = 1 << 30
	switch {
	case !known:
		return warning("ulimit -l says it", "the limit of locked memory can't be read")
	case soft == unlimited:
		return ok("unlimited")
	case len(adapters) == 0:
		return ok("%s: only RDMA adapters need more, and there are none", sizeOf(soft))
	case soft < enough:
		return warning("set memlock to unlimited in /etc/security/limits.conf, and LimitMEMLOCK=infinity for sshd and slurmd",
			"%s can be registered with %s", sizeOf(soft), strings.Join(adapters, ", "))
	}
	return ok("%s", sizeOf(soft))
}

func files(_ context.Context, m *Machine) Finding {
	const each = 10 // of verbrun for a rank, or of a rank for a peer that it has talked to
	_, hard, known := m.limit("Max open files")
	switch {
	case !known:
		return warning("ulimit -Hn says it", "the limit of open files can't be read")
	case hard == unlimited:
		return ok("unlimited")
	case hard < 16*each:
		return problem("raise nofile in /etc/security/limits.conf", "%d open files: room for about %d ranks", hard, hard/each)
	case hard < 100*each:
		return warning("raise nofile in /etc/security/limits.conf", "%d open files: room for about %d ranks", hard, hard/each)
	}
	return ok("%d can be open: room for about %d ranks on this host", hard, hard/each)
}

func processes(_ context.Context, m *Machine) Finding {
	const each = 16 // threads of a rank
	left, by := uint64(unlimited), ""
	tighter := func(n uint64, what string) {
		if n < left {
			left, by = n, what
		}
	}
	if soft, _, known := m.limit("Max processes"); known {
		tighter(soft, "ulimit -u")
	}
	for _, name := range []string{"proc/sys/kernel/threads-max", "proc/sys/kernel/pid_max"} {
		if text, err := m.read(name); err == nil {
			if n, err := strconv.ParseUint(text, 10, 64); err == nil {
				tighter(n, "/"+name)
			}
		}
	}
	for _, g := range m.groups("pids") {
		if most, ok := g.number("pids.max"); ok {
			now, _ := g.number("pids.current")
			tighter(most-min(now, most), "the cgroup's pids.max")
		}
	}
	switch {
	case left == unlimited:
		return ok("no limit found")
	case left < 4*each:
		return problem("raise "+by, "%d threads more: a rank has about %d", left, each)
	case left < 64*each:
		return warning("raise "+by, "%d threads more: room for about %d ranks", left, left/each)
	}
	return ok("%d threads more: room for about %d ranks (%s)", left, left/each, by)
}

// sizeOf writes a size for people.
func sizeOf(n uint64) string {
	for _, u := range []struct {
		shift uint
		name  string
	}{{40, "TiB"}, {30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n >= 1<<u.shift {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(uint64(1)<<u.shift)), ".0") + " " + u.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
