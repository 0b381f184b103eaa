package testbed

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// holders are the processes that are in one of the namespaces, or have a word of
// the bed's folder in their arguments.
func holders(t *testing.T, spaces map[string]bool, dir string) []string {
	t.Helper()
	var found []string
	pids, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		args, _ := os.ReadFile(pid + "/cmdline")
		held := strings.Contains(string(args), dir)
		for _, name := range []string{"net", "mnt", "pid", "uts", "ipc"} {
			link, err := os.Readlink(pid + "/ns/" + name)
			held = held || err == nil && spaces[link]
		}
		if held {
			found = append(found, fmt.Sprintf("%s %q", pid, args))
		}
	}
	return found
}

// spaces are the namespaces of a bed that are its own.
func (b *Bed) spaces(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, s := range append([]*shell{b.sw}, b.hosts...) {
		for _, name := range []string{"net", "mnt", "pid", "uts", "ipc"} {
			link, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", s.cmd.Process.Pid, name))
			if err != nil {
				t.Fatal(err)
			}
			if own, _ := os.Readlink("/proc/self/ns/" + name); own != link {
				all[link] = true
			}
		}
	}
	if want := 1 + 5*len(b.hosts); len(all) != want {
		t.Errorf("%d namespaces, want %d", len(all), want)
	}
	return all
}

// When a test has ended nothing of its bed is left: no process, namespace, mount
// or file.
func TestNothingLeft(t *testing.T) {
	Need(t, "hosts", "sshd", "slurm")
	mounts := read(t, "/proc/self/mountinfo")
	var spaces map[string]bool
	var dir string
	t.Run("bed", func(t *testing.T) {
		b := New(t, 2, Rails(2))
		b.SSH()
		b.Slurm()
		spaces, dir = b.spaces(t), b.dir
		// What a job may leave behind: a daemon, and what reaches into a host.
		output(t, b.Command(0, "ssh", "h1", "setsid sleep 1000 >/dev/null 2>&1 & touch /dev/shm/left /run/left"))
		if err := b.Command(1, "sleep", "1000").Start(); err != nil {
			t.Fatal(err)
		}
		if len(holders(t, spaces, dir)) < 6 {
			t.Error("the test doesn't see what there is")
		}
	})
	gone(t, spaces, dir)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
	if now := read(t, "/proc/self/mountinfo"); now != mounts {
		t.Errorf("mounts before:\n%s\nafter:\n%s", mounts, now)
	}
}

// When a test process is killed, its beds end with it.
func TestKilled(t *testing.T) {
	const env = "TESTBED_TEST_BED"
	if os.Getenv(env) != "" {
		b := New(t, 2)
		b.SSH()
		b.Slurm()
		if err := b.Command(1, "sleep", "1000").Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Println("bed", b.dir)
		for space := range b.spaces(t) {
			_, _ = fmt.Println("space", space)
		}
		_, _ = fmt.Println("ready")
		select {} // until it is killed
	}
	Need(t, "hosts", "sshd", "slurm")
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestKilled$", "-test.timeout", "60s")
	cmd.Env = append(os.Environ(), env+"="+strconv.Itoa(os.Getpid()))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	spaces, dir := map[string]bool{}, ""
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		switch name, value, _ := strings.Cut(lines.Text(), " "); name {
		case "bed":
			dir = value
		case "space":
			spaces[value] = true
		}
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if len(holders(t, spaces, dir)) < 6 {
		t.Errorf("the test doesn't see what there is: %v", spaces)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	gone(t, spaces, dir)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
}

// gone waits until nobody is in the namespaces.
func gone(t *testing.T, spaces map[string]bool, dir string) {
	t.Helper()
	Await(t, "the end of all", 5*time.Second, func() error {
		if left := holders(t, spaces, dir); len(left) > 0 {
			return fmt.Errorf("left: %v", left)
		}
		return nil
	})
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
