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
	bind, err := newBinder(v.spec.Bind, v.spec.Ranks)
	if err != nil {
		return fail(StatusInternal, "reading the allowed cores: %w", err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fail(StatusInternal, "%w", err)
	}
	defer func() { _ = null.Close() }()
	v.log.Debugf("%d ranks, %d cores allowed, bound: %v, a core of their own: %v", v.spec.Ranks, len(bind.cores), bind.bind, bind.own)
	argv := append([]string{v.argv0()}, v.spec.Args...)
	stdin, err := v.stdin()
	if err != nil {
		return err
	}
	for i := range v.spec.Ranks {
		r := &rank{id: i}
		if r.core, err = bind.move(i); err != nil {
			return fail(StatusInternal, "binding rank %d to core %d: %w", i, r.core, err)
		}
		if err := r.launch(v.spec.Program.File, argv, environ(v.spec.Env, i, v.spec.Ranks, bind.own), stdin); err != nil {
			return err
		}
		demote(r.pid, v.realtime)
		v.ranks = append(v.ranks, r)
		v.byPid[r.pid] = r
		v.log.Debugf("%v started, core %d", r, r.core)
		if stdin != os.Stdin && stdin != null {
			_ = stdin.Close()
		}
		stdin = null
	}
	if err := bind.back(); err != nil {
		return fail(StatusInternal, "moving back to all cores: %w", err)
	}
	v.serve()
	v.reaper = newReaper(v.ranks)
	go v.reaper.run()
	return nil
}

func (v *supervisor) argv0() string {
	if v.spec.Program.Package != "" {
		return v.spec.Program.File
	}
	return v.spec.Name
}

// serve starts the goroutines of each rank.
func (v *supervisor) serve() {
	v.server = pmi.NewServer("verbrun-"+strconv.Itoa(os.Getpid())+"-"+token(), v.spec.Ranks, pmiEvents{v})
	for _, r := range v.ranks {
		r.out.prompts, r.err.prompts = v.prompts, v.prompts && terminal(os.Stderr)
		v.copying.Go(func() { r.out.copy(v.stdout) })
		v.copying.Go(func() { r.err.copy(v.stderr) })
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

// pmiEvent is what the server of a rank tells the loop.
type pmiEvent struct {
	rank    int
	done    bool  // nothing comes after this
	bad     error // the rank broke the protocol
	abort   bool
	code    int
	why     string
	stuck   bool // rank waits in a barrier for missing
	missing int
}

// pmiEvents passes a server's events to the loop.
type pmiEvents struct{ v *supervisor }

func (p pmiEvents) Abort(rank, code int, why string) {
	p.v.tell(pmiEvent{rank: rank, abort: true, code: code, why: why})
}

func (p pmiEvents) Stuck(waiting, missing int) {
	p.v.tell(pmiEvent{rank: waiting, stuck: true, missing: missing})
}

func (v *supervisor) tell(e pmiEvent) {
	select {
	case v.pmi <- e:
	case <-v.done:
	}
}

func (e pmiEvent) String() string {
	switch {
	case e.bad != nil:
		return e.bad.Error()
	case e.abort && e.why != "":
		return fmt.Sprintf("called abort with status %d: %s", e.code, e.why)
	case e.abort:
		return fmt.Sprintf("called abort with status %d", e.code)
	}
	return ""
}
