package launcher

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHostEnv(t *testing.T) {
	there := func(dir string) bool { return dir == "/tmp" }
	for _, c := range []struct {
		name            string
		base, own, here string // with blanks between
		account         bool
		want            string
	}{
		{name: "what is nobody's passes", base: "A=1 PATH=/bin LD_LIBRARY_PATH=/x HOME=/h/me", here: "A=2 B=3 PATH=/usr/bin HOME=/h/you", want: "A=1 PATH=/bin LD_LIBRARY_PATH=/x HOME=/h/me"},
		{name: "what is a host's stays there", base: "HOSTNAME=h0 SSH_CLIENT=a DISPLAY=:0 A=1", here: "HOSTNAME=h1 SSH_CONNECTION=b", want: "A=1 HOSTNAME=h1 SSH_CONNECTION=b"},
		{name: "a node's numbers are the node's", base: "SLURM_NODEID=0 SLURMD_NODENAME=h0 SLURM_JOB_ID=7", here: "SLURM_NODEID=1 SLURMD_NODENAME=h1 SLURM_JOB_ID=7 SLURM_STEP_ID=3", want: "SLURM_JOB_ID=7 SLURM_NODEID=1 SLURMD_NODENAME=h1 SLURM_STEP_ID=3"},
		{name: "what the user says goes everywhere", base: "A=1 DISPLAY=:0 DISPLAY=:7", own: "DISPLAY=:7", here: "DISPLAY=:9", want: "A=1 DISPLAY=:9 DISPLAY=:7"},
		{name: "an account's", base: "HOME=/h/me USER=me A=1", here: "HOME=/h/you USER=you", account: true, want: "A=1 HOME=/h/you USER=you"},
		{name: "folders that are there", base: "TMPDIR=/tmp", here: "TMPDIR=/scratch", want: "TMPDIR=/tmp"},
		{name: "folders that aren't", base: "TMPDIR=/job/7 TMP=/job/7", here: "TMPDIR=/scratch", want: "TMPDIR=/scratch"},
		{name: "folders that aren't, and then are", base: "TMPDIR=/job/7 TMPDIR=/tmp", here: "TMPDIR=/scratch", want: "TMPDIR=/tmp"},
	} {
		got := hostEnv(strings.Fields(c.base), strings.Fields(c.own), strings.Fields(c.here), c.account, there)
		if d := cmp.Diff(strings.Fields(c.want), got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, d)
		}
	}
}
