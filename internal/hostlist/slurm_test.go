package hostlist

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNodes(t *testing.T) {
	for text, want := range map[string]string{
		"h0":                 "h0",
		"h0,h1":              "h0 h1",
		"h[0-3,7],g01":       "h0 h1 h2 h3 h7 g01",
		"h[08-10]":           "h08 h09 h10",
		"h[008,1]":           "h008 h1",
		"r[1-2]n[0-1]":       "r1n0 r1n1 r2n0 r2n1",
		"h[0-1]-ib,x":        "h0-ib h1-ib x",
		"h[3].lab.org,[1-2]": "h3.lab.org 1 2",
	} {
		got, err := ParseNodes("V", text)
		if d := cmp.Diff(want, strings.Join(got, " ")); err != nil || d != "" {
			t.Errorf("%q: %v (-want +got)\n%s", text, err, d)
		}
	}
	for text, want := range map[string]string{
		"":                           "V:1: expected a node's name, as h0 or h[0-3,7]",
		"h0,,h1":                     "V:4: expected a node's name, as h0 or h[0-3,7]",
		"h[0-3":                      `V:2: "[0-3": expected a ] after the [`,
		"h]0":                        `V:1: "h]0": expected a node's name, as h0 or h[0-3,7]`,
		"h[]":                        "V:3: expected a number or a range, as 7 or 0-3",
		"h[3-1]":                     `V:3: "3-1": expected a number or a range, as 7 or 0-3`,
		"a,h[1,x]":                   `V:7: "x": expected a number or a range, as 7 or 0-3`,
		"h[0-99999999]":              `V:3: "0-99999999": expected at most 16384 nodes`,
		"h[0-999][0-999][0-9]":       `V:1: "h[0-999][0-999][0-9]": expected at most 16384 nodes`,
		"h[0-9999],g[0-9999]":        `V:13: "0-9999": expected at most 16384 nodes`,
		"h[99999999999999999999]":    `V:3: "99999999999999999999": expected a number or a range, as 7 or 0-3`,
		"-h[0-1]":                    `V:1: "-h[0-1]": expected a node's name, as h0 or h[0-3,7]`,
		"h[0-1] g":                   `V:1: "h[0-1] g": expected a node's name, as h0 or h[0-3,7]`,
		strings.Repeat("h[0-1]", 99): `V:1: "` + strings.Repeat("h[0-1]", 10) + `…": expected at most 16384 nodes`,
	} {
		if got, err := ParseNodes("V", text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v\nexpected %s", text, got, err, want)
		}
	}
}

func TestParseCounts(t *testing.T) {
	for text, want := range map[string][]int{"1": {1}, "2(x3),1": {2, 2, 2, 1}, "16(x1)": {16}} {
		got, err := ParseCounts("V", text)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%q: %v\n%s", text, err, d)
		}
	}
	for text, want := range map[string]string{
		"":                    "V:1: expected a number of tasks from 1 to 65536",
		"2(x3":                `V:4: "3": expected a number and ) after (x`,
		"2,3(x)":              `V:6: expected a number of nodes from 1 to 16384`,
		"2(x99999999)":        `V:4: "99999999": expected a number of nodes from 1 to 16384`,
		"2(x16384),1":         `V:11: "1": expected at most 16384 nodes`,
		"1,0":                 `V:3: "0": expected a number of tasks from 1 to 65536`,
		"99999999999999999(x": `V:1: "99999999999999999": expected a number of tasks from 1 to 65536`,
	} {
		if got, err := ParseCounts("V", text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v\nexpected %s", text, got, err, want)
		}
	}
}

func TestSlurm(t *testing.T) {
	for _, c := range []struct{ env, want, err string }{
		{"", "", ""},
		{"ID=7", "", ""},
		{"NODELIST=h0", "", ""},
		{"ID=7 NODELIST=h[0-2] TASKS=2(x2),1 CPUS=8(x3)", "h0 slots=2\nh1 slots=2\nh2 slots=1\n", ""},
		{"ID=7 NODELIST=h[0-1] CPUS=8,4", "h0 slots=8\nh1 slots=4\n", ""},
		{"ID=7 NODELIST=h[0-1] CPUS=8,4 EACH=5", "h0 slots=1\nh1 slots=1\n", ""},
		{"ID=7 NODELIST=h[0-1] TASKS=2(x2) STEP=1", "h0 slots=2\nh1 slots=2\n", ""},
		{"ID=7 NODELIST=h[0-1] TASKS=1 CPUS=4(x2) STEPID=0 STEP=1", "h0 slots=4\nh1 slots=4\n", ""},
		{"ID=7 NODELIST=h0 TASKS=1 STEPID=0 STEP=1", "h0 slots=1\n", ""},
		{"ID=7 NODELIST=h[0-1] TASKS=2(x2) STEP=2", "", ""},
		{"ID=7 NODELIST=h[0-1] TASKS=2", "", `SLURM_TASKS_PER_NODE: "2": expected numbers for 2 nodes: found 1`},
		{"ID=7 NODELIST=h0", "", "SLURM_TASKS_PER_NODE: expected a number of tasks for each node, as 2(x3),1: it isn't set"},
		{"ID=7 NODELIST=h[ TASKS=1", "", `SLURM_JOB_NODELIST:2: "[": expected a ] after the [`},
	} {
		env := map[string]string{}
		for kv := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(kv, "=")
			env[map[string]string{
				"ID": "SLURM_JOB_ID", "NODELIST": "SLURM_JOB_NODELIST", "TASKS": "SLURM_TASKS_PER_NODE",
				"CPUS": "SLURM_JOB_CPUS_PER_NODE", "EACH": "SLURM_CPUS_PER_TASK", "STEP": "SLURM_STEP_NUM_TASKS", "STEPID": "SLURM_STEP_ID",
			}[name]] = value
		}
		hosts, err := Slurm(func(name string) string { return env[name] })
		text := ""
		if err != nil {
			text = err.Error()
		}
		if Format(hosts) != c.want || text != c.err {
			t.Errorf("%s: %q, %q", c.env, Format(hosts), text)
		}
	}
}
