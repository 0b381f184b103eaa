//go:build linux

package jobtest

import (
	"strings"
	"testing"
)

// What the environment says is used, or refused with its name.
func TestSettings(t *testing.T) {
	const bad = "is not a number of bytes: want a decimal number"
	for _, tt := range []struct {
		env  string
		want string // of the settings; or
		errs string // the reason of the refusal
	}{
		{"", "VERBENA_MAX_INLINE=400 (default)", ""},
		{"VERBENA_MAX_INLINE=", "VERBENA_MAX_INLINE=400 (default)", ""},
		{"VERBENA_MAX_INLINE=400", "VERBENA_MAX_INLINE=400 (environment)", ""},
		{"VERBENA_MAX_INLINE=0", "VERBENA_MAX_INLINE=0 (environment)", ""},
		{"VERBENA_MAX_INLINE=64B", "VERBENA_MAX_INLINE=64 (environment)", ""},
		{"VERBENA_MAX_INLINE=1KiB", "VERBENA_MAX_INLINE=1024 (environment)", ""},
		{"VERBENA_MAX_INLINE=0400", "VERBENA_MAX_INLINE=400 (environment)", ""}, // not octal
		{"VERBENA_MAX_INLINE=0x190", "", `VERBENA_MAX_INLINE (environment): "0x190" ` + bad},
		{"VERBENA_MAX_INLINE=-5", "", `VERBENA_MAX_INLINE (environment): "-5" ` + bad},
		{"VERBENA_MAX_INLINE=+5", "", `VERBENA_MAX_INLINE (environment): "+5" ` + bad},
		{"VERBENA_MAX_INLINE=4e2", "", `VERBENA_MAX_INLINE (environment): "4e2" ` + bad},
		{"VERBENA_MAX_INLINE=4_00", "", `VERBENA_MAX_INLINE (environment): "4_00" ` + bad},
		{`VERBENA_MAX_INLINE="400"`, "", `VERBENA_MAX_INLINE (environment): "\"400\"" ` + bad},
		{"VERBENA_MAX_INLINE= 400", "", `VERBENA_MAX_INLINE (environment): " 400" ` + bad},
		{"VERBENA_MAX_INLINE=5000000000", "", "VERBENA_MAX_INLINE (environment): 5000000000 is not in 0..2147483647"},
		{"VERBENA_MAX_INLINE=99999999999999999999", "", `VERBENA_MAX_INLINE (environment): "99999999999999999999"`},
		{"VERBENA_MAX_INLINE=1099511627775MiB", "", "VERBENA_MAX_INLINE (environment): "},
		{"VERBENA_RECV=peer", "VERBENA_RECV=peer (environment)", ""},
		{"VERBENA_RECV=foo", "", `VERBENA_RECV (environment): "foo" is not a kind of receive queue`},
		{"VERBENA_RECV=SRQ", "", `VERBENA_RECV (environment): "SRQ" is not a kind of receive queue`},
		{"VERBENA_READ=stream", "VERBENA_READ=stream (environment)", ""},
		{"VERBENA_READ=foo", "", `VERBENA_READ (environment): `},
		{"VERBENA_EAGER_LIMIT=0", "VERBENA_EAGER_LIMIT=0 (environment)", ""},
		{"VERBENA_EAGER_LIMIT=64KiB", "", "VERBENA_EAGER_LIMIT (environment): 65536 is not in 0..65472"},
		{"VERBENA_SLOTS=0", "", "VERBENA_SLOTS (environment): 0 is not in 1..1048576"},
		{"VERBENA_PRINT=foo", "", "VERBENA_PRINT=foo: want settings"},
	} {
		t.Run(tt.env, func(t *testing.T) {
			for _, n := range []int{0, 2} {
				j := spec{n: n, env: []string{tt.env}}.start(t, "ranks", "settings")
				status, errs := j.wait(), j.stderr.String()
				if tt.errs == "" {
					if status != 0 || errs != "" || j.stdout.count("setting "+tt.want) != 1 {
						t.Errorf("%d ranks: status %d, expected %s", n, status, tt.want)
					}
					continue
				}
				if status != 1 || !strings.Contains(errs, "comm: Init: "+tt.errs) || j.stdout.count("setting ") != 0 {
					t.Errorf("%d ranks: status %d, expected %s", n, status, tt.errs)
				}
			}
		})
	}
}

// A name that nothing reads is most likely a slip. It is named, and no more.
func TestUnknownSetting(t *testing.T) {
	j := spec{env: []string{"VERBENA_FOO=1", "VERBENA_SERVICE_HOST=10.0.0.1", "VERBENA_PORT=tcp://10.0.0.1:80"}}.start(t, "ranks", "settings")
	status, errs := j.wait(), j.stderr.String()
	if status != 0 || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "warning") || !strings.Contains(errs, "VERBENA_FOO is no setting of verbena") {
		t.Errorf("status %d", status)
	}
}

// With more than one wrong setting all are named.
func TestWrongSettings(t *testing.T) {
	j := spec{env: []string{"VERBENA_RECV=foo", "VERBENA_SLOTS=x"}}.start(t, "ranks", "settings")
	if status := j.wait(); status != 1 || !strings.Contains(j.stderr.String(), "VERBENA_RECV") || !strings.Contains(j.stderr.String(), "VERBENA_SLOTS") {
		t.Errorf("status %d", status)
	}
}
