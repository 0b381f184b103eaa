package launcher

import (
	"os"
	"slices"
	"strings"
)

// ofHost says whether a variable belongs to a host, or to a login there: on
// another one it would be wrong.
func ofHost(name string) bool {
	switch name {
	case "HOSTNAME", "HOST", "HOSTTYPE", "MACHTYPE", "OSTYPE",
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "WINDOWID", "TMUX", "STY",
		"DBUS_SESSION_BUS_ADDRESS", "GPG_AGENT_INFO", "KRB5CCNAME",
		"INVOCATION_ID", "JOURNAL_STREAM",
		"SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_TASK_PID", "SLURM_GTIDS", "SLURM_TOPOLOGY_ADDR":
		return true
	}
	for _, prefix := range []string{"SSH_", "XDG_RUNTIME_", "XDG_SESSION_", "XDG_SEAT", "XDG_VTNR", "SYSTEMD_", "SLURMD_", "SLURM_STEP", "SLURM_SRUN_", "SLURM_CPU_BIND"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// ofAccount says whether a variable belongs to a user's account.
func ofAccount(name string) bool {
	return slices.Contains([]string{"HOME", "USER", "LOGNAME", "SHELL", "MAIL"}, name)
}

// ofTemp says whether a variable names a folder for temporary files.
func ofTemp(name string) bool { return slices.Contains([]string{"TMPDIR", "TMP", "TEMP"}, name) }

// hostEnv is base, the environment of a part on the supervisor's host, for this one:
// what belongs to a host is this one's, here. What the part alone has said, own, counts
// in any case. Account says that the user is another here; exists, whether a folder is
// there.
func hostEnv(base, own, here []string, account bool, exists func(dir string) bool) []string {
	ours := func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return ofHost(name) || account && ofAccount(name) || ofTemp(name) && !exists(value)
	}
	env := make([]string, 0, len(base)+8)
	left := map[string]bool{} // temporary folders that aren't here
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if !ours(kv) {
			env = append(env, kv)
			delete(left, name)
		} else if ofTemp(name) {
			left[name] = true
		}
	}
	for _, kv := range here {
		if name, _, _ := strings.Cut(kv, "="); ofHost(name) || account && ofAccount(name) || left[name] {
			env = append(env, kv)
		}
	}
	return append(env, own...)
}

func isDir(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}
