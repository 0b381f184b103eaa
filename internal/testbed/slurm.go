package testbed

import (
	"errors"
	"fmt"
	"strings"
)

// slurmConf is what a cluster of virtual hosts needs to run. Paths in /run are
// each host's own, and short, since sockets lie there. Process groups are told
// by /proc, since the default needs a cgroup that can be frozen. A host may claim
// more CPUs than the machine has.
const slurmConf = `ClusterName=testbed
SlurmctldHost=h0
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=/run/munge.socket
StateSaveLocation=/run/slurm/state
SlurmdSpoolDir=/run/slurm/spool
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/%%n.slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
TmpFS=/run/slurm/tmp
ReturnToService=2
SlurmdTimeout=10
KillWait=2
%[2]sPartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// slurmCPUs is how many CPUs each host claims: allocations never wait for each
// other.
const slurmCPUs = 64

// Slurm makes a cluster of all hosts, h0 being its controller too. In each host
// plain srun, salloc, sbatch and so on serve it.
func (b *Bed) Slurm() {
	b.t.Helper()
	Need(b.t, "slurm")
	var nodes strings.Builder
	for i := range b.hosts {
		fmt.Fprintf(&nodes, "NodeName=%s NodeAddr=%v CPUs=%d State=UNKNOWN\n", Name(i), b.Addr(i), slurmCPUs)
	}
	b.write("slurm.conf", fmt.Sprintf(slurmConf, b.dir, nodes.String()))
	b.write("cgroup.conf", "CgroupPlugin=cgroup/v1\n")
	b.write("munge.key", strings.Repeat("a key for a test ", 8))
	for i, h := range b.hosts {
		b.do(h, b.slurmHost(i))
	}
	b.await(fmt.Sprintf("%d idle hosts in the cluster", len(b.hosts)), func() error {
		ctx, cancel := within(limit)
		defer cancel()
		text, err := b.hosts[0].run(ctx, "sinfo -h -o '%T %D'")
		if err == nil && text != fmt.Sprintf("idle %d\n", len(b.hosts)) {
			err = errors.New("sinfo: " + strings.TrimSpace(text))
		}
		return err
	})
}

// slurmHost starts a host's daemons. The configuration is where the commands
// look for it without being told, in front of what the machine may have there.
func (b *Bed) slurmHost(host int) string {
	daemons := []string{"slurmd"}
	if host == 0 {
		daemons = []string{"slurmctld", "slurmd"}
	}
	var s strings.Builder
	fmt.Fprintf(&s, `mkdir -p /run/slurm/state /run/slurm/spool /run/slurm/tmp &&
mount -t tmpfs -o mode=755 slurm /etc/slurm && cp %[1]s/slurm.conf %[1]s/cgroup.conf /etc/slurm/ &&
cp %[1]s/munge.key /run/munge.key && chmod 600 /run/munge.key &&
%[2]s --force --socket /run/munge.socket --key-file /run/munge.key --pid-file /run/munge.pid --seed-file /run/munge.seed --log-file %[1]s/%[3]s.munged.log --origin lo`,
		quote(b.dir), b.program("munged"), Name(host))
	for _, d := range daemons {
		fmt.Fprintf(&s, " &&\n%s", b.program(d))
	}
	return s.String()
}
