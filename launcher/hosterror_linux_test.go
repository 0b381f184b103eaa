package launcher

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// launchScript is a launch agent that does this.
func launchScript(t *testing.T, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// What can go wrong between the start of a starter and that of the ranks: each has
// its own message, with the host's name.
func TestAgentFails(t *testing.T) {
	ready := fmt.Sprintf("echo %q", markerLine+markerReady+agentVersion())
	for _, c := range []struct {
		name, agent string
		status      int
		why         string // regexp
	}{
		{"no starter", "/no/such/command", 127, `198\.51\.100\.1: /no/such/command: not found in PATH`},
		{"silent", launchScript(t, "exec sleep 60"), 123, `198\.51\.100\.1: no answer from the agent within 300ms: is verbrun at /.*/launcher\.test there\?`},
		{"noisy and silent", launchScript(t, "echo who are you >&2; exec sleep 60"), 123, `198\.51\.100\.1: no answer .*there\?: who are you`},
		{"ends", launchScript(t, "echo so what; exit 3"), 123, `198\.51\.100\.1: /.*/agent exited with status 3 before the agent answered: so what`},
		{"is killed", launchScript(t, "echo so what >&2; kill -9 $$"), 123, `198\.51\.100\.1: /.*/agent was killed by SIGKILL before the agent answered: so what`},
		{"floods", launchScript(t, "exec yes"), 123, `198\.51\.100\.1: no agent: more than 65536 bytes, and no agent among them.*`},
		{"is another version", launchScript(t, "echo verbena-agent: ready 0 0.0.1; exec sleep 60"), 123, `198\.51\.100\.1: verbrun at .* there has version 0 0\.0\.1, and here it is 1 .*`},
		{"talks nonsense", launchScript(t, "echo verbena-agent: hello; exec sleep 60"), 123, `198\.51\.100\.1: unexpected answer "hello" from the agent`},
		{"talks nonsense later", launchScript(t, ready+"; echo what a fine day it is; exec sleep 60"), 123, `host 198\.51\.100\.1 is gone: what comes from its agent makes no sense: invalid protocol version`},
		{"ends later", launchScript(t, ready+"; exit 4"), 123, `host 198\.51\.100\.1 is gone: /.*/agent exited with status 4`},
		{"has no verbrun", launchScript(t, `PATH=/usr/bin:/bin; eval "$(echo "$2" | sed s,launcher.test,no-such-file,)"`), 127, `198\.51\.100\.1: no verbrun at /.*/launcher\.test there: install it, or say --preload`},
		{"may not run verbrun", launchScript(t, `eval "$(echo "$2" | sed "s,'*/[^ ]*/launcher.test'*,/etc/passwd,")"`), 126, `198\.51\.100\.1: verbrun at /.*/launcher\.test there can't be executed`},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := 5 * time.Second
			if strings.Contains(c.name, "silent") {
				limit = 300 * time.Millisecond
			}
			start := time.Now()
			r, out, err := sh(t, t.Context(), Job{Hosts: elsewhere(1), Agent: c.agent, AgentLimit: limit}, 1, "true")
			if err != nil || r.Status != c.status || !regexp.MustCompile("^"+c.why+"$").MatchString(r.Why) || out != "verbrun: "+r.Why+"\n" {
				t.Errorf("%v, %+v\n%q, expected\n%q", err, r, out, c.why)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// All hosts that don't answer are named.
func TestAgentsMissing(t *testing.T) {
	agent := launchScript(t, `test $1 != 198.51.100.2 || exec sleep 60; exec /bin/sh -c "$2"`)
	r, _, err := sh(t, t.Context(), Job{Hosts: elsewhere(3), Agent: agent, AgentLimit: 400 * time.Millisecond}, 3, "echo no")
	if err != nil || r.Status != StatusHost || !strings.HasPrefix(r.Why, "198.51.100.2: no answer") {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestReadMarker(t *testing.T) {
	for _, c := range []struct {
		in, said, skipped string
		bad               bool
	}{
		{in: "verbena-agent: missing\n", said: "missing"},
		{in: "\nverbena-agent: ready 1 x y\nmore", said: "ready 1 x y", skipped: "\n"},
		{in: "motd\r\nfunverbena-agent: send\r\n", said: "send", skipped: "motd\r\nfun"},
		{in: strings.Repeat("x", 10_000) + "\nverbena-agent: \n", skipped: strings.Repeat("x", 10_000) + "\n"},
		{in: "verbena-agent: ready", bad: true, skipped: "verbena-agent: ready"},
		{in: "", bad: true},
		{in: strings.Repeat("y\n", maxSkipped), bad: true},
	} {
		r := bufio.NewReader(strings.NewReader(c.in))
		said, skipped, err := readMarker(r)
		if said != c.said || (err != nil) != c.bad || c.skipped != "" && string(skipped) != c.skipped {
			t.Errorf("%.80q: %q, %.80q, %v", c.in, said, skipped, err)
		}
		if strings.HasSuffix(c.in, "more") {
			if rest, _ := r.ReadString(0); rest != "more" {
				t.Errorf("%q is left of what follows", rest)
			}
		}
	}
}

func FuzzReadMarker(f *testing.F) {
	f.Add([]byte("welcome\nverbena-agent: ready 1\nx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		said, skipped, err := readMarker(bufio.NewReader(bytes.NewReader(b)))
		if err == nil && (!bytes.Contains(b, []byte(markerLine+said)) || !bytes.HasPrefix(b, skipped)) {
			t.Errorf("%q: %q, %q", b, said, skipped)
		}
		if len(skipped) > maxSkipped+4096 {
			t.Errorf("%d bytes skipped", len(skipped))
		}
	})
}
