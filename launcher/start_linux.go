package launcher

import (
	"fmt"
	"os"
	"strconv"

	"github.com/verbena-mpi/verbena/internal/pmi"
)

// start starts all ranks, from this thread, and the goroutines that look after
// them.
func (v *supervisor) start() error {
	plan := v.spec.Plan
	bound, err := newBinding(plan.here(), v.spec.Bind)
	if err != nil {
		return err
	}
	v.name = "verbrun-" + strconv.Itoa(os.Getpid()) + "-" + token()
	size := len(plan.Seats)
	v.log.Debugf("%d ranks, %d cores allowed, a core of their own: %v", size, len(bound.cores), bound.own)
	for i, seat := range plan.Seats { // all that can fail without a rank's having run
		r := &rank{id: i, app: seat.Part, out: &stream{to: v.stdout}, err: &stream{to: v.stderr, hold: newHold()}}
		if err := v.direct(r, size); err != nil {
			return err
		}
		v.ranks = append(v.ranks, r)
	}
	v.newHosts()
	if err := v.collect(); err != nil {
		return err
	}
	for _, r := range v.ranks {
		if r.host == nil {
			v.crew.ranks = append(v.crew.ranks, r)
		}
	}
	if v.spec.DisplayMap {
		fmt.Fprint(v.stderr, plan.display())
	}
	if err := v.meetHosts(); err != nil {
		return err
	}
	if v.spec.ReportBindings {
		v.reportBindings(bound)
	}
	v.startHosts()
	if err := v.crew.start(bound, v.spec.Parts, size, v.given); err != nil {
		return err
	}
	if err := v.awaitHosts(startLimit, "started its ranks", func(h *host) bool { return h.begun }); err != nil {
		return err
	}
	v.serve()
	go v.feed()
	v.crew.watch()
	return nil
}

// reportBindings says on which cores each rank runs.
func (v *supervisor) reportBindings(bound *binding) {
	for i, r := range v.ranks {
		local := v.spec.Plan.Seats[i].Local
		if r.host == nil {
			fmt.Fprintf(v.stderr, "verbrun: rank %d: %s\n", i, bound.where(local))
		} else {
			fmt.Fprintf(v.stderr, "verbrun: rank %d on %s: %s\n", i, r.host.name, r.host.where[local])
		}
	}
}

// given is what a rank on this host gets besides its place.
func (v *supervisor) given(r *rank) (stdin *os.File, env []string, err error) {
	r.link = newLink()
	stdin, err = v.stdinFor(r)
	env = r.link.env(v.name)
	if v.preloaded != "" {
		env = append(env, preloadEnv+"="+v.preloaded)
	}
	return stdin, env, err
}

// direct says where a rank's output goes.
func (v *supervisor) direct(r *rank, size int) (err error) {
	o := v.spec.Output
	r.out.who, r.err.who = o.speaker(r.id), o.speaker(r.id)
	if o.Files == "" {
		return nil
	}
	if r.out.to, err = o.create(r.id, size, "out"); err != nil {
		return err
	}
	v.files = append(v.files, r.out.to)
	if r.err.to, err = o.create(r.id, size, "err"); err != nil {
		return err
	}
	v.files = append(v.files, r.err.to)
	return nil
}

// serve starts the goroutines of each rank.
func (v *supervisor) serve() {
	v.server = pmi.NewServer(v.name, len(v.ranks), pmiEvents{v})
	hosts := make([]int, len(v.ranks))
	for i, s := range v.spec.Plan.Seats {
		hosts[i] = s.Host
	}
	v.server.SetHosts(hosts)
	for _, r := range v.ranks {
		v.server.SetApp(r.id, r.app)
		r.out.prompts, r.err.prompts = v.prompts, v.prompts && terminal(os.Stderr)
		v.copying.Go(func() { r.out.copy() })
		v.copying.Go(func() { r.err.copy() })
		v.listenTo(r)
		go func() {
			err := v.server.Serve(r.id, r.pmi)
			if err != nil {
				v.tell(pmiEvent{rank: r.id, bad: err})
			}
			v.tell(pmiEvent{rank: r.id, done: true})
		}()
	}
	go func() {
		v.copying.Wait()
		close(v.copied)
	}()
}
