package doctor

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/verbena-mpi/verbena/internal/ranges"
)

func cores(_ context.Context, m *Machine) Finding {
	list, known := m.field("proc/self/status", "Cpus_allowed_list")
	allowed := len(ranges.Parse(list))
	if !known || allowed == 0 {
		return warning("mount /proc", "the allowed cores can't be read")
	}
	of := ""
	if online, err := m.read("sys/devices/system/cpu/online"); err == nil && len(ranges.Parse(online)) > allowed {
		of = " of " + strconv.Itoa(len(ranges.Parse(online))) + ", by an affinity mask"
	}
	if quota := m.quota(); quota < float64(allowed) {
		return warning("give the container more cores, or start no more ranks than that: others are stopped for tens of milliseconds, again and again",
			"%d cores (%s)%s, and a control group gives the time of %.3g", allowed, list, of, quota)
	}
	return ok("%d cores (%s)%s", allowed, list, of)
}

// quota is how many cores' time the control groups give.
func (m *Machine) quota() float64 {
	least := math.Inf(1)
	share := func(quota, period string) {
		q, err1 := strconv.ParseFloat(quota, 64)
		p, err2 := strconv.ParseFloat(period, 64)
		if err1 == nil && err2 == nil && q > 0 && p > 0 {
			least = min(least, q/p)
		}
	}
	for _, g := range m.groups("cpu") {
		if f := g.read("cpu.max"); len(f) == 2 {
			share(f[0], f[1])
		}
		quota, period := g.read("cpu.cfs_quota_us"), g.read("cpu.cfs_period_us")
		if len(quota) == 1 && len(period) == 1 {
			share(quota[0], period[0])
		}
	}
	return least
}

// load: ranks spin for a while when they wait, and others on their cores make them slow.
func load(_ context.Context, m *Machine) Finding {
	text, err := m.read("proc/loadavg")
	one, err2 := strconv.ParseFloat(strings.SplitN(text+" ", " ", 2)[0], 64)
	if err != nil || err2 != nil {
		return warning("mount /proc", "the load can't be read")
	}
	online, _ := m.read("sys/devices/system/cpu/online")
	if n := len(ranges.Parse(online)); n > 0 && one > 0.5*float64(n) {
		return warning("wait, or find out what runs (top): times that are measured now mean little", "%.1f threads run or want to, on %d cores", one, n)
	}
	return ok("%.1f threads run", one)
}
