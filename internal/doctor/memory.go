package doctor

import (
	"context"
	"strconv"
	"strings"
)

func memory(_ context.Context, m *Machine) Finding {
	left, by := uint64(unlimited), ""
	if text, known := m.field("proc/meminfo", "MemAvailable"); known {
		if n, err := strconv.ParseUint(strings.TrimSuffix(text, " kB"), 10, 54); err == nil {
			left, by = n<<10, "the machine"
		}
	}
	for _, g := range m.groups("memory") {
		for _, names := range [][2]string{{"memory.max", "memory.current"}, {"memory.limit_in_bytes", "memory.usage_in_bytes"}} {
			most, limited := g.number(names[0])
			now, _ := g.number(names[1])
			if free := most - min(now, most); limited && free < left {
				left, by = free, "the control group (what was read from files is counted as used)"
			}
		}
	}
	const few, fewest = 256 << 20, 32 << 20
	switch {
	case left == unlimited:
		return warning("mount /proc", "the free memory can't be read")
	case left < fewest:
		return problem("free some, or give the container more: ranks would be killed", "%s left in %s", sizeOf(left), by)
	case left < few:
		return warning("free some, or give the container more: ranks may be killed", "%s left in %s", sizeOf(left), by)
	}
	return ok("%s left in %s", sizeOf(left), by)
}

func sharedMemory(_ context.Context, m *Machine) Finding {
	if err := m.MemoryTrial(); err != nil {
		return problem("a sandbox may forbid memfd_create or unix sockets: VERBENA_DEVICES=tcp does without, and is slower", "ranks of this host can't share memory: %v", err)
	}
	return ok("files in memory can be made, sealed, and handed over")
}

func singleCopy(_ context.Context, m *Machine) Finding {
	err := m.CopyTrial()
	if err == nil {
		return ok("a process may read another one's memory")
	}
	advice := "large messages are streamed instead"
	scope, _ := m.read("proc/sys/kernel/yama/ptrace_scope")
	filtered, _ := m.field("proc/self/status", "Seccomp")
	switch {
	case scope != "" && scope != "0":
		advice += "; sysctl -w kernel.yama.ptrace_scope=0 would allow it (it is " + scope + ")"
	case filtered == "2":
		advice += "; this container's seccomp profile may forbid it: docker run --cap-add=SYS_PTRACE allows it"
	}
	return warning(advice, "process_vm_readv: %v", err)
}

func proc(_ context.Context, m *Machine) Finding {
	for _, name := range []string{"proc/self/status", "proc/self/stat"} {
		if _, err := m.read(name); err != nil {
			return problem("mount -t proc proc /proc: verbrun starts itself from there, and finds what ranks have left behind", "%v", err)
		}
	}
	return ok("mounted, and readable")
}
