package doctor

import (
	"context"
	"runtime"
)

// checks are all that look at one machine, in the order in which they are printed.
var checks = []struct {
	name  string
	check func(context.Context, *Machine) Finding
	linux bool // it looks at what Linux alone has
}{
	{"system", system, false},
	{"proc", proc, true},
	{"cores", cores, true},
	{"load", load, true},
	{"memory", memory, true},
	{"memlock", memlock, true},
	{"files", files, true},
	{"processes", processes, true},
	{"shared memory", sharedMemory, true},
	{"single copy", singleCopy, true},
	{"rdma", rdma, true},
	{"network", network, false},
	{"host name", hostName, false},
	{"remote start", remoteStart, false},
	{"clock", clock, true},
	{"settings", settings, false},
}

// Look runs all checks of a machine.
func Look(ctx context.Context, m *Machine) []Finding {
	var all []Finding
	for _, c := range checks {
		if c.linux && runtime.GOOS != "linux" {
			continue
		}
		f := c.check(ctx, m)
		f.Check = c.name
		all = append(all, f)
	}
	return all
}

func system(context.Context, *Machine) Finding {
	if runtime.GOOS != "linux" {
		return problem("use Linux", "%s/%s: verbrun can't start ranks here yet", runtime.GOOS, runtime.GOARCH)
	}
	return ok("%s/%s, %s", runtime.GOOS, runtime.GOARCH, runtime.Version())
}
