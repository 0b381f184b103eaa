package doctor

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/verbena-mpi/verbena/verbs/tcp"
)

// limitsText is a /proc/self/limits.
func limitsText(locked, processes, files string) string {
	return "Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max processes             " + processes + "   unlimited            processes \n" +
		"Max open files            1024                 " + files + "               files     \n" +
		"Max locked memory         " + locked + "              " + locked + "              bytes     \n"
}

// healthy are the files of a machine that lacks nothing.
func healthy() map[string]string {
	return map[string]string{
		"proc/self/status":                  "Name:\tx\nCpus_allowed_list:\t0-3\nSeccomp:\t0\n",
		"proc/self/stat":                    "1 (x) R",
		"proc/self/limits":                  limitsText("8388608", "60000", "524288"),
		"proc/self/cgroup":                  "0::/user/job\n",
		"proc/loadavg":                      "0.10 0.20 0.30 1/100 4242\n",
		"proc/meminfo":                      "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\n",
		"proc/sys/kernel/pid_max":           "4194304\n",
		"sys/devices/system/cpu/online":     "0-3\n",
		"sys/fs/cgroup/cgroup.controllers":  "cpu memory pids\n",
		"sys/fs/cgroup/user/job/cpu.max":    "max 100000\n",
		"sys/fs/cgroup/user/memory.max":     "max\n",
		"sys/fs/cgroup/user/memory.current": "1000000\n",
		"proc/sys/kernel/random/boot_id":    "b\n",
		clockSource:                         "tsc\n",
	}
}

const clockSource = "sys/devices/system/clocksource/clocksource0/current_clocksource"

// machine is one with these files.
func machine(t *testing.T, files map[string]string) *Machine {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &Machine{
		Root: root, Version: "1",
		Hostname: func() (string, error) { return "h0", nil },
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		},
		LookPath:    func(name string) (string, error) { return "/bin/" + name, nil },
		Networks:    func(string) ([]tcp.Network, error) { return nets("eth0 10.0.0.1/24"), nil },
		CopyTrial:   func() error { return nil },
		MemoryTrial: func() error { return nil },
	}
}

// nets reads "eth0 10.0.0.1/24"; a ~ before the name makes it a last resort.
func nets(lines ...string) []tcp.Network {
	var all []tcp.Network
	for _, l := range lines {
		name, addr, _ := strings.Cut(l, " ")
		name, last := strings.CutPrefix(name, "~")
		all = append(all, tcp.Network{Name: name, Addr: netip.MustParsePrefix(addr), Last: last})
	}
	return all
}

func TestHealthy(t *testing.T) {
	for _, f := range Look(t.Context(), machine(t, healthy())) {
		if f.Level != OK || f.Check == "" || f.Found == "" || f.Advice != "" {
			t.Errorf("%+v", f)
		}
	}
}

// Each row changes a healthy machine, and says what one check then finds.
func TestChecks(t *testing.T) {
	set := func(name, text string) func(map[string]string, *Machine) {
		return func(files map[string]string, _ *Machine) { files[name] = text }
	}
	remove := func(name string) func(map[string]string, *Machine) {
		return func(files map[string]string, _ *Machine) { delete(files, name) }
	}
	adapter := func(files map[string]string, _ *Machine) {
		files["sys/class/infiniband/mlx5_0/ports/1/state"] = "4: ACTIVE\n"
	}
	for _, c := range []struct {
		check  string
		change []func(map[string]string, *Machine)
		level  Level
		found  string // a part of it
	}{
		{"proc", nil, OK, "mounted"},
		{"proc", steps(remove("proc/self/stat")), Problem, "no such file"},
		{"cores", nil, OK, "4 cores (0-3)"},
		{"cores", steps(set("proc/self/status", "Cpus_allowed_list:\t1,3\n")), OK, "2 cores (1,3) of 4, by an affinity mask"},
		{"cores", steps(set("sys/fs/cgroup/user/job/cpu.max", "150000 100000\n")), Warning, "4 cores (0-3), and a control group gives the time of 1.5"},
		{"cores", steps(set("sys/fs/cgroup/user/cpu.max", "200000 100000\n")), Warning, "the time of 2"},
		{"cores", steps(set("sys/fs/cgroup/user/cpu.max", "400000 100000\n")), OK, "4 cores"},
		{"cores", steps(set("proc/self/cgroup", "3:cpu,cpuacct:/d\n0::/\n"), set("sys/fs/cgroup/cpu/d/cpu.cfs_quota_us", "50000"), set("sys/fs/cgroup/cpu/d/cpu.cfs_period_us", "100000")), Warning, "the time of 0.5"},
		{"cores", steps(set("proc/self/cgroup", "3:cpu,cpuacct:/elsewhere\n"), set("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"), set("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")), OK, "4 cores"},
		{"cores", steps(remove("proc/self/status")), Warning, "can't be read"},
		{"load", nil, OK, "0.1 threads"},
		{"load", steps(set("proc/loadavg", "2.5 0 0")), Warning, "2.5 threads run or want to, on 4 cores"},
		{"load", steps(set("proc/loadavg", "x")), Warning, "can't be read"},
		{"memory", nil, OK, "7.6 GiB left in the machine"},
		{"memory", steps(set("sys/fs/cgroup/user/memory.max", "101000000")), Warning, "95.4 MiB left in the control group"},
		{"memory", steps(set("sys/fs/cgroup/user/memory.max", "500000")), Problem, "0 bytes left in the control group"},
		{"memory", steps(set("proc/meminfo", "MemAvailable:    8000 kB\n")), Problem, "7.8 MiB left in the machine"},
		{"memory", steps(remove("proc/meminfo")), Warning, "can't be read"},
		{"memlock", nil, OK, "8 MiB: only RDMA adapters need more"},
		{"memlock", steps(adapter), Warning, "8 MiB can be registered with mlx5_0"},
		{"memlock", steps(adapter, set("proc/self/limits", limitsText("unlimited", "1", "1"))), OK, "unlimited"},
		{"memlock", steps(remove("proc/self/limits")), Warning, "can't be read"},
		{"files", nil, OK, "524288 can be open"},
		{"files", steps(set("proc/self/limits", limitsText("1", "1", "512"))), Warning, "room for about 51 ranks"},
		{"files", steps(set("proc/self/limits", limitsText("1", "1", "64"))), Problem, "room for about 6 ranks"},
		{"files", steps(set("proc/self/limits", limitsText("1", "1", "unlimited"))), OK, "unlimited"},
		{"processes", nil, OK, "room for about 3750 ranks (ulimit -u)"},
		{"processes", steps(set("sys/fs/cgroup/user/pids.max", "200"), set("sys/fs/cgroup/user/pids.current", "50")), Warning, "150 threads more: room for about 9 ranks"},
		{"processes", steps(set("sys/fs/cgroup/user/pids.max", "20"), set("sys/fs/cgroup/user/pids.current", "50")), Problem, "0 threads more"},
		{"processes", steps(set("proc/sys/kernel/threads-max", "300")), Warning, "300 threads more"},
		{"shared memory", nil, OK, "sealed"},
		{"shared memory", steps(func(_ map[string]string, m *Machine) { m.MemoryTrial = failing(syscall.EPERM) }), Problem, "operation not permitted"},
		{"single copy", nil, OK, "may read"},
		{"single copy", steps(func(_ map[string]string, m *Machine) { m.CopyTrial = failing(syscall.EPERM) }, set("proc/sys/kernel/yama/ptrace_scope", "1\n")), Warning, "kernel.yama.ptrace_scope=0 would allow it (it is 1)"},
		{"single copy", steps(func(_ map[string]string, m *Machine) { m.CopyTrial = failing(syscall.EPERM) }, set("proc/self/status", "Seccomp:\t2\n")), Warning, "seccomp profile may forbid it"},
		{"single copy", steps(func(_ map[string]string, m *Machine) { m.CopyTrial = failing(syscall.ENOSYS) }), Warning, "process_vm_readv: function not implemented"},
		{"rdma", nil, OK, "no adapter"},
		{"rdma", steps(adapter), OK, "mlx5_0 active; not used: this build has no ibv"},
		{"rdma", steps(adapter, func(_ map[string]string, m *Machine) { m.Tags = "x,ibv" }), OK, "mlx5_0 active; this build has ibv"},
		{"network", nil, OK, "eth0 10.0.0.1/24"},
		{"network", steps(networks("eth0 10.0.0.1/24", "~docker0 172.17.0.1/16")), OK, "eth0 10.0.0.1/24; as a last resort docker0 172.17.0.1/16"},
		{"network", steps(networks("~docker0 172.17.0.1/16")), Warning, "name what is to be used in VERBENA_NET"},
		{"network", steps(networks("lo 127.0.0.1/8")), OK, "lo 127.0.0.1/8"},
		{"network", steps(networks("lo 127.0.0.1/8"), func(_ map[string]string, m *Machine) { m.Hosts = true }), Problem, "no other host can reach this one"},
		{"network", steps(networks()), Warning, "none at all"},
		{"network", steps(networks(), func(_ map[string]string, m *Machine) { m.Hosts = true }), Problem, "none at all"},
		{"network", steps(networks(), func(_ map[string]string, m *Machine) { m.Env = []string{"VERBENA_NET=x"} }), Problem, "change VERBENA_NET"},
		{"host name", nil, OK, "h0 is 10.0.0.1"},
		{"host name", steps(func(_ map[string]string, m *Machine) {
			m.Resolve = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") }
		}), OK, "h0, which can't be resolved: nothing here needs that"},
		{"host name", steps(func(_ map[string]string, m *Machine) {
			m.Hostname = func() (string, error) { return "", errors.New("none") }
		}), Warning, "no name"},
		{"remote start", nil, OK, "/bin/ssh"},
		{"remote start", steps(noSSH), Warning, "ssh: not found"},
		{"remote start", steps(noSSH, func(_ map[string]string, m *Machine) { m.Hosts = true }), Problem, "ssh: not found"},
		{"remote start", steps(func(_ map[string]string, m *Machine) { m.Starter = "srun" }), OK, "/bin/srun"},
		{"clock", nil, OK, "tsc"},
		{"clock", steps(set(clockSource, "hpet\n")), Warning, "hpet"},
		{"clock", steps(remove(clockSource)), OK, "isn't known"},
		{"settings", nil, OK, "defaults"},
		{"settings", steps(func(_ map[string]string, m *Machine) { m.Env = []string{"VERBENA_EAGER_LIMIT=1", "A=b"} }), OK, "VERBENA_EAGER_LIMIT set"},
		{"settings", steps(func(_ map[string]string, m *Machine) { m.Env = []string{"VERBENA_EAGER=1"} }), Warning, "nothing reads VERBENA_EAGER"},
	} {
		files, changed := healthy(), &Machine{}
		for _, f := range c.change {
			f(files, changed)
		}
		m := machine(t, files)
		m.Hosts, m.Env, m.Tags = changed.Hosts, changed.Env, changed.Tags
		for _, f := range c.change {
			f(map[string]string{}, m)
		}
		for _, f := range Look(t.Context(), m) {
			if text := f.Found + ": " + f.Advice; f.Check == c.check && (f.Level != c.level || !strings.Contains(text, c.found) || (f.Level == OK) != (f.Advice == "")) {
				t.Errorf("%s, expected %v, %q: %+v", c.check, c.level, c.found, f)
			}
		}
	}
}

func steps(f ...func(map[string]string, *Machine)) []func(map[string]string, *Machine) { return f }

func failing(err error) func() error { return func() error { return err } }

func noSSH(_ map[string]string, m *Machine) {
	m.LookPath = func(string) (string, error) { return "", errors.New("not found") }
}

func networks(lines ...string) func(map[string]string, *Machine) {
	return func(_ map[string]string, m *Machine) {
		m.Networks = func(string) ([]tcp.Network, error) {
			if len(lines) == 0 {
				return nil, errors.New("none at all")
			}
			return nets(lines...), nil
		}
	}
}

// The real machine can be looked at. What is found depends on it.
func TestThisMachine(t *testing.T) {
	m := ThisMachine()
	if got := Look(t.Context(), m); len(got) != len(checks) {
		t.Errorf("%+v", got)
	}
	if m.identity() == "" || m.identity() != ThisMachine().identity() {
		t.Errorf("%q", m.identity())
	}
}

// Root may read any process's memory, unless a sandbox says otherwise.
func TestTrials(t *testing.T) {
	if err := memoryTrial(); err != nil {
		t.Error(err)
	}
	err := copyTrial()
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		t.Error(err)
	}
	if errno != 0 {
		t.Logf("single copy is denied here: %v", errno)
	}
}

// What is read must be what is there.
func TestTrialRead(t *testing.T) {
	mem := make([]byte, 1<<17) // on the heap, which doesn't move
	self, addr := strconv.Itoa(os.Getpid()), strconv.FormatUint(uint64(addressOf(mem)), 16)
	for args, want := range map[[3]string]int{
		{self, addr, "00"}: 0,
		{self, addr, "01"}: 3,
		{self, "x", "00"}:  2,
	} {
		if got := trialRead(args[0], args[1], args[2]); got != want {
			t.Errorf("%v: %d", args, got)
		}
	}
	runtime.KeepAlive(mem)
}

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	all := []Finding{{OK, "a", "fine", ""}, {Problem, "long name", "two\nlines \x1b[31m", "do\tit"}}
	if err := Write(&b, all); err != nil {
		t.Fatal(err)
	}
	if want := "ok       a          fine\nproblem  long name  two lines  [31m: do it\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
	if Stops(all[:1]) || !Stops(all) {
		t.Error("Stops")
	}
}
