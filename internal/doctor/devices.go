package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// adapters lists the RDMA devices.
func (m *Machine) adapters() []string {
	dir, _ := os.ReadDir(filepath.Join(m.Root, "sys/class/infiniband"))
	var names []string
	for _, e := range dir {
		names = append(names, e.Name())
	}
	return names
}

func rdma(_ context.Context, m *Machine) Finding {
	names := m.adapters()
	if len(names) == 0 {
		return ok("no adapter")
	}
	for i, name := range names {
		ports, _ := filepath.Glob(filepath.Join(m.Root, "sys/class/infiniband", name, "ports/*/state"))
		for _, p := range ports {
			b, err := os.ReadFile(p)
			if _, state, has := strings.Cut(strings.TrimSpace(string(b)), ": "); err == nil && has {
				names[i] += " " + strings.ToLower(state)
			}
		}
	}
	list := strings.Join(names, ", ")
	if !hasWord(strings.ReplaceAll(m.Tags, " ", ","), "ibv") {
		return ok("%s; not used: this build has no ibv, and hosts are reached over tcp", list)
	}
	return ok("%s; this build has ibv", list)
}

// clock: Go asks for the time often, and so do those who measure.
func clock(_ context.Context, m *Machine) Finding {
	source, err := m.read("sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err != nil {
		return ok("its source isn't known")
	}
	switch source {
	case "hpet", "acpi_pm", "jiffies", "xen", "refined-jiffies":
		return warning("asking for the time takes a system call: if /sys/devices/system/clocksource/clocksource0/available_clocksource has tsc, choose that", "its source is %s", source)
	}
	return ok("its source is %s", source)
}
