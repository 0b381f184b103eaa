package bootstrap

import (
	"runtime"
	"strings"
)

// starter is a launcher that says which rank a process is and gives no connection,
// and how to see that all ranks are on one host.
type starter struct {
	name string
	claim
	// onHost is the number that says so, and all what it must be: a number, or the
	// variable that has it.
	onHost, all string
	// job are variables that together are the same in all ranks of a job, and in no
	// other job of this user and host at that time. The first must be there.
	job []string
}

var starters = []starter{
	{
		"Open MPI's mpirun", claims[0], "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE",
		[]string{"PMIX_NAMESPACE", "PMIX_SERVER_TMPDIR", "OMPI_MCA_orte_precondition_transports"},
	},
	{"srun", claims[1], "SLURM_STEP_NUM_NODES", "1", []string{"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_CLUSTER_NAME"}},
}

// fromHost finds ranks that were all started on this host. Found: they were; and where
// there is only one rank, that it is alone.
func fromHost(lookup func(string) (string, bool)) (p *place, found bool, err error) {
	for _, s := range starters {
		if _, ok := lookup(s.size); !ok {
			continue
		}
		if _, ok := lookup(s.rank); !ok {
			continue
		}
		size, err := count(lookup, s.size)
		if err != nil {
			return nil, false, err
		}
		rank, err := count(lookup, s.rank)
		if err != nil {
			return nil, false, err
		}
		if err := checkRank(s.rank, rank, s.size, size); err != nil {
			return nil, false, err
		}
		if size == 1 {
			return nil, true, nil
		}
		if !s.oneHost(lookup) || runtime.GOOS != "linux" {
			return nil, false, nil // which notAlone explains
		}
		m := &meeting{host: s.name, job: s.jobName(lookup)}
		if m.timeout, err = meetTimeout(lookup); err != nil {
			return nil, false, err
		}
		return &place{rank: rank, size: size, fd: -1, meet: m}, true, nil
	}
	return nil, false, nil
}

func (s starter) oneHost(lookup func(string) (string, bool)) bool {
	all := s.all
	if v, ok := lookup(all); ok {
		all = v
	}
	here, _ := lookup(s.onHost)
	job, _ := lookup(s.job[0])
	return here == all && job != ""
}

func (s starter) jobName(lookup func(string) (string, bool)) string {
	var parts []string
	for _, name := range s.job {
		v, _ := lookup(name)
		parts = append(parts, v)
	}
	return strings.Join(parts, " ")
}
