package doctor

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/verbena-mpi/verbena/internal/knobs"
	"github.com/verbena-mpi/verbena/verbs/tcp"
)

func network(_ context.Context, m *Machine) Finding {
	filter := m.getenv("VERBENA_NET")
	nets, err := m.Networks(filter)
	if err != nil {
		advice := "give this machine a network"
		if filter != "" {
			advice = "change VERBENA_NET"
		}
		f := problem(advice, "%v", err)
		if !m.Hosts && filter == "" {
			f.Level = Warning // ranks of one host do without
		}
		return f
	}
	var use, last []string
	alone := true
	for _, n := range nets {
		alone = alone && n.Addr.Addr().IsLoopback()
		if text := n.Name + " " + n.Addr.String(); n.Last {
			last = append(last, text)
		} else {
			use = append(use, text)
		}
	}
	text := strings.Join(use, ", ")
	if len(last) > 0 {
		text += "; as a last resort " + strings.Join(last, ", ")
	}
	if filter != "" {
		text += " (VERBENA_NET=" + filter + ")"
	}
	switch {
	case alone && m.Hosts:
		return problem("no other host can reach this one", "%s is all there is", text)
	case len(use) == 0:
		return warning("name what is to be used in VERBENA_NET", "only interfaces that join containers, or without a carrier%s", text)
	}
	return ok("%s", text)
}

// addresses are those that other hosts may dial.
func addresses(nets []tcp.Network) []tcp.Network {
	return slices.DeleteFunc(slices.Clone(nets), func(n tcp.Network) bool {
		ip := n.Addr.Addr()
		return ip.IsLoopback() || ip.IsLinkLocalUnicast()
	})
}

func hostName(ctx context.Context, m *Machine) Finding {
	name, err := m.Hostname()
	if err != nil {
		return warning("set one: messages name hosts by it", "this host has no name: %v", err)
	}
	const limit = 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	addrs, err := m.Resolve(ctx, name)
	if err != nil || len(addrs) == 0 {
		return ok("%s, which can't be resolved: nothing here needs that", name)
	}
	var list []string
	for _, a := range addrs {
		list = append(list, a.Unmap().String())
	}
	return ok("%s is %s", name, strings.Join(list, ", "))
}

// remoteStart looks for the command that starts agents.
func remoteStart(_ context.Context, m *Machine) Finding {
	name := m.Starter
	if name == "" {
		name = "ssh"
	}
	path, err := m.LookPath(name)
	switch {
	case err == nil:
		return ok("%s", path)
	case m.Hosts:
		return problem("install it, or use --launch-agent", "%s: %v", name, err)
	}
	return warning("install it, if jobs are to run on other hosts", "%s: %v", name, err)
}

func settings(_ context.Context, m *Machine) Finding {
	var set, unknown []string
	for _, kv := range m.Env {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case knobs.Unknown(name):
			unknown = append(unknown, name)
		case slices.ContainsFunc(knobs.All, func(k knobs.Knob) bool { return k.Name == name }):
			set = append(set, name)
		}
	}
	slices.Sort(set)
	slices.Sort(unknown)
	switch {
	case len(unknown) > 0:
		return warning("verbrun info lists all settings", "nothing reads %s", strings.Join(unknown, ", "))
	case len(set) == 0:
		return ok("all have their defaults")
	}
	return ok("%s set by the environment", strings.Join(set, ", "))
}
