package doctor

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/verbena-mpi/verbena/internal/hostlist"
	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs/tcp"
)

// The test binary is also a helper.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "doctor-helper" {
		fmt.Println("Welcome to this host!") // as a login shell may
		m := ThisMachine()
		m.Version = os.Args[2]
		m.Networks = func(string) ([]tcp.Network, error) {
			return []tcp.Network{{Name: "lo", Addr: netip.MustParsePrefix(os.Args[3])}}, nil
		}
		m.Root = os.Args[4] // a machine of its own
		if err := Help(context.Background(), m, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

// hostsTest runs Hosts over commands, one for each host.
func hostsTest(t *testing.T, commands map[string][]string, names ...string) []string {
	t.Helper()
	var hosts []hostlist.Host
	for _, n := range names {
		hosts = append(hosts, hostlist.Host{Name: n, Local: n == "local"})
	}
	m := machine(t, healthy())
	m.Networks = func(string) ([]tcp.Network, error) { return nets("lo 127.0.0.1/8"), nil }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	var lines []string
	for _, f := range Hosts(ctx, Plan{Hosts: hosts, Machine: m, Command: func(h hostlist.Host) []string { return commands[h.Name] }}) {
		if f.Check == "connections" || f.Check == "hosts" || f.Check == "network" {
			lines = append(lines, fmt.Sprintf("%v: %s: %s: %s", f.Level, f.Check, f.Found, f.Advice))
		}
	}
	return lines
}

func helper(t *testing.T, version, addr string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, "doctor-helper", version, addr, machine(t, healthy()).Root}
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i], w) {
			t.Errorf("%q, expected %q", got[i], w)
		}
	}
}

// addresses leaves out loopback, so helpers of one machine can't meet: all of them say
// so. With what other hosts have, they meet in TestHostsOfABed.
func TestHostsWithoutANetwork(t *testing.T) {
	expect(t, hostsTest(t, map[string][]string{"a": helper(t, "1", "127.0.0.1/8")}, "local", "a"),
		"ok: hosts: 2 of 2 have this verbrun at this path",
		"problem: connections: local to a: a has no address that others could use: ",
		"problem: connections: a to local: local has no address that others could use: ")
}

// What doesn't answer, or answers something else, is said, and the others are looked at.
func TestHostsThatFail(t *testing.T) {
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	got := hostsTest(t, map[string][]string{
		"old":    helper(t, "0", "127.0.0.1/8"),
		"denied": sh("echo 'a@b: Permission denied (publickey).' >&2; exit 255"),
		"none":   sh("exec /no/such/verbrun"),
		"quiet":  sh("exit 3"),
		"chatty": sh("yes"),
		"liar":   sh("read x; echo 'verbena-doctor: {\"Port\":\"x\"}'"),
		"empty":  sh("read x; echo 'verbena-doctor: {}'; read x"),
		"long":   sh("head -c 2000000 /dev/zero"),
		"gone":   {"/no/such/ssh"},
	}, "local", "old", "denied", "none", "quiet", "chatty", "liar", "empty", "long", "gone")
	expect(t, got,
		"problem: hosts: old has verbrun 0, and this is 1: install the same one there",
		"problem: hosts: denied: /bin/sh: a@b: Permission denied (publickey).: the same command must work without a password",
		"problem: hosts: none: /bin/sh: ", // in the shell's own words
		"problem: hosts: quiet: /bin/sh ended with status 3: try the same command by hand",
		"problem: hosts: chatty: /bin/sh: more than 65536 bytes that aren't a helper's",
		"problem: hosts: liar: /bin/sh: a line that can't be read",
		"problem: hosts: empty: /bin/sh: its helper has no port",
		"problem: hosts: long: /bin/sh: a line of more than 1048576 bytes",
		"problem: hosts: gone: starting /no/such/ssh",
		"ok: hosts: 1 of 10 have this verbrun",
		"problem: connections: local to old: old has no address",
		"problem: connections: old to local: local has no address")
}

// A host that never answers is given up when the time is over.
func TestHostsCanceled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	got := Hosts(ctx, Plan{
		Hosts: []hostlist.Host{{Name: "h"}}, Machine: machine(t, healthy()),
		Command: func(hostlist.Host) []string { return []string{"sleep", "60"} },
	})
	if len(got) != 1 || got[0].Level != Problem || !strings.Contains(got[0].Found, "h: sleep: ") {
		t.Errorf("%+v", got)
	}
}

// What judge makes of what helpers say.
func TestJudge(t *testing.T) {
	at := func(name string, to []result, networks ...string) *visit {
		return &visit{host: hostlist.Host{Name: name}, to: to, hello: hello{Version: "1", Machine: name, Port: 9, Networks: nets(networks...)}}
	}
	good := func(host int, addr string) result { return result{host, []try{{addr, time.Millisecond, ""}}} }
	for name, c := range map[string]struct {
		visits []*visit
		want   []string
	}{
		"all is well": {
			[]*visit{at("a", []result{good(1, "10.0.0.2:9")}, "eth0 10.0.0.1/24"), at("b", []result{good(0, "10.0.0.1:9")}, "eth0 10.0.0.2/24")},
			[]string{"ok hosts 2 of 2 have", "ok connections 2 made between 2 hosts, each way; the slowest took 1ms"},
		},
		"a firewall one way, and an address that doesn't answer": {
			[]*visit{
				at("a", []result{{1, []try{{"10.0.0.2:9", 0, "no answer"}}}}, "eth0 10.0.0.1/24"),
				at("b", []result{{0, []try{{"10.0.0.1:9", time.Millisecond, ""}, {"10.1.0.1:9", 0, "no answer"}}}}, "eth0 10.0.0.2/24"),
			},
			[]string{
				"ok hosts", "problem connections a to b: 10.0.0.2:9 no answer",
				"warning connections b to a: 10.1.0.1:9 no answer; but 10.0.0.1:9 answers", "ok connections 1 made",
			},
		},
		"an address that both have": {
			[]*visit{at("a", nil, "eth0 10.0.0.1/24", "x 10.9.0.1/24", "~docker0 172.17.0.1/16"), at("b", []result{good(0, "")}, "x 10.9.0.1/24", "~docker0 172.17.0.1/16")},
			[]string{
				"ok hosts", "warning network a, b all have the address 10.9.0.1", "problem connections a to b: b has no address",
				"ok connections 1 made",
			},
		},
		"one host by two names": {
			[]*visit{at("a", nil, "eth0 10.0.0.1/24"), {host: hostlist.Host{Name: "b"}, hello: hello{Version: "1", Machine: "a"}}},
			[]string{"ok hosts", "warning hosts a and b are one host"},
		},
		"a helper that has ended": {
			[]*visit{{host: hostlist.Host{Name: "a"}, lost: io.EOF, hello: hello{Version: "1"}}, at("b", []result{{7, nil}}, "eth0 10.0.0.2/24")},
			[]string{"ok hosts", "problem connections a to b: the helper of a ended before it was done: EOF", "problem connections b to a: a has no address"},
		},
		"more slots than cores": {
			[]*visit{{host: hostlist.Host{Name: "a", Slots: 4}, hello: hello{Version: "1", Cores: 4}}, {host: hostlist.Host{Name: "b", Slots: 5}, hello: hello{Version: "1", Cores: 4}}},
			[]string{"warning hosts b has 5 slots, and may use 4 cores", "ok hosts 2 of 2", "problem connections a to b: b has no address", "problem connections b to a"},
		},
		"a clock that is off, and what is found there": {
			[]*visit{{
				host: hostlist.Host{Name: "a"}, off: -3 * time.Second,
				hello: hello{Version: "1", Findings: []Finding{{OK, "x", "", ""}, {Warning, "y", "bad", "mend"}}},
			}},
			[]string{"warning hosts a: its clock is -3s off", "ok hosts 1 of 1", "warning a: y bad"},
		},
	} {
		var got []string
		for _, f := range judge(c.visits, "1") {
			got = append(got, fmt.Sprintf("%v %s %s", f.Level, f.Check, f.Found))
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], c.want[i]) {
				t.Errorf("%s: %q, expected %q", name, got[i], c.want[i])
			}
		}
	}
}

// Of very many pairs a few are named.
func TestJudgeIsBrief(t *testing.T) {
	var visits []*visit
	for i := range 20 {
		visits = append(visits, &visit{host: hostlist.Host{Name: fmt.Sprint("h", i)}, hello: hello{Version: "1"}})
	}
	got := pairs(visits)
	if len(got) != 17 || got[16].Found != "364 pairs more" {
		t.Errorf("%d: %+v", len(got), got[len(got)-1])
	}
}

// A helper is proved to: somebody else at its port isn't taken for it, and who has no
// secret gets nothing out of it.
func TestConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	key := secret.New()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { accept(ctx, l, key, 4) })
	defer all.Wait()
	defer cancel()
	defer func() { _ = l.Close() }()
	addr := l.Addr().String()
	if got := tryOne(ctx, addr, 4, key); got.Err != "" || got.Took <= 0 || got.Addr != addr {
		t.Errorf("%+v", got)
	}
	if got := tryOne(ctx, addr, 5, key); got.Err != "somebody else answers there" { // another host's address
		t.Errorf("%+v", got)
	}
	if got := tryOne(ctx, addr, 4, secret.New()); got.Err != "somebody else answers there" {
		t.Errorf("%+v", got)
	}
	stranger, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.Write([]byte(strings.Repeat("x", 1<<10))); err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(stranger)
	_ = stranger.Close()
	if len(b) > 64 { // a nonce, and a proof that is none
		t.Errorf("%d bytes", len(b))
	}
	_ = l.Close()
	if got := tryOne(ctx, addr, 4, key); got.Err != "connection refused" {
		t.Errorf("%+v", got)
	}
}
