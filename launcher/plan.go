package launcher

import "github.com/verbena-mpi/verbena/internal/hostlist"

// plan says on which host each rank runs. On which cores is decided there (binding).
type plan struct {
	Hosts []hostlist.Host // those of the job; one, without a name, if the job has none
	Seats []seat          // by rank
	Count []int           // by host: its ranks
}

// seat is one rank's place.
type seat struct {
	Part  int
	Host  int // of plan.Hosts
	Local int // the rank's number among those of its host
}

// newPlan places the ranks of a job's parts, in order. counts has how many ranks each
// part has; one part's 0 is as many as there are slots.
func newPlan(counts []int, hosts []hostlist.Host, by MapBy, oversubscribe bool) (*plan, error) {
	if len(hosts) == 0 {
		hosts = []hostlist.Host{{Local: true}}
	}
	p := &plan{Hosts: hosts, Count: make([]int, len(hosts))}
	ranks := 0
	for _, n := range counts {
		ranks += n
	}
	where, err := place(hosts, ranks, by, oversubscribe)
	if err != nil {
		return nil, err
	}
	part, left := 0, counts[0]
	if ranks == 0 {
		left = len(where)
	}
	for _, h := range where {
		for left == 0 {
			part++
			left = counts[part]
		}
		p.Seats = append(p.Seats, seat{Part: part, Host: h, Local: p.Count[h]})
		p.Count[h]++
		left--
	}
	return p, nil
}

// ranksOn lists the ranks of a host, ascending.
func (p *plan) ranksOn(host int) []int {
	var ranks []int
	for rank, s := range p.Seats {
		if s.Host == host {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// remote lists the hosts that have ranks and aren't this one.
func (p *plan) remote() []int {
	var hosts []int
	for i, h := range p.Hosts {
		if !h.Local && p.Count[i] > 0 {
			hosts = append(hosts, i)
		}
	}
	return hosts
}

// here is how many ranks this host has.
func (p *plan) here() int {
	n := 0
	for i, h := range p.Hosts {
		if h.Local { // one at most
			n += p.Count[i]
		}
	}
	return n
}
