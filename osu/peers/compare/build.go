package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/verbena-mpi/verbena/osu/peers"
)

const module = "github.com/verbena-mpi/verbena/"

// build makes all programs in dir, and leaves out the peers that can't be
// built or don't run.
func (r *runner) build(ctx context.Context, dir string) error {
	if err := r.buildOurs(ctx, dir); err != nil {
		return err
	}
	if err := os.CopyFS(dir, peers.Programs); err != nil {
		return err
	}
	for _, s := range r.cfg.net.peerSides() {
		if !slices.Contains(r.cfg.peers, s.name) {
			continue
		}
		make := r.buildPeer
		if s.floor {
			make = r.buildFloor
		}
		if err := make(ctx, dir, s); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.note("%s: skipped: %v", s.name, err)
			continue
		}
		r.note("%s is %s", s.name, s.about)
		r.sides = append(r.sides, s)
	}
	if len(r.sides) == 0 {
		return errors.New("there is nothing to run")
	}
	return nil
}

func (r *runner) buildOurs(ctx context.Context, dir string) error {
	r.verbrun, r.pin = filepath.Join(dir, "verbrun"), filepath.Join(dir, "pinned")
	if err := os.WriteFile(r.pin, []byte(pinScript), 0o700); err != nil {
		return err
	}
	program := filepath.Join(dir, r.cfg.bench)
	if err := goBuild(ctx, r.verbrun, "launcher/verbrun"); err != nil {
		return err
	}
	if len(r.cfg.ours) == 0 {
		return nil
	}
	if err := goBuild(ctx, program, "osu/"+r.cfg.bench); err != nil {
		return err
	}
	for _, v := range r.cfg.ours {
		s := &side{
			name: v.name, ours: true, env: v.env, program: program,
			args: v.args,
		}
		r.underVerbrun(s)
		if r.cfg.net == tcp {
			s.env = append([]string{"VERBENA_DEVICES=tcp"}, s.env...)
		}
		if err := r.try(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		r.sides = append(r.sides, s)
	}
	return nil
}

// underVerbrun has a side started by our launcher.
func (r *runner) underVerbrun(s *side) {
	s.launch, s.bind = []string{r.verbrun, "-n", "2"}, []string{"--bind-to", "core"}
	s.onHosts = []string{"--host", "%s:1,%s:1", "--bind-to", "none"}
}

func goBuild(ctx context.Context, file, pkg string) error {
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", file, module+pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// buildFloor builds the bare socket's program.
func (r *runner) buildFloor(ctx context.Context, dir string, s *side) error {
	s.program, s.about = filepath.Join(dir, "rawtcp"), "a bare non-blocking socket, in Go"
	r.underVerbrun(s)
	s.args = []string{"-b", r.cfg.bench}
	if err := goBuild(ctx, s.program, "osu/peers/rawtcp"); err != nil {
		return err
	}
	return r.try(ctx, s)
}

// buildPeer compiles a peer's program, unless another side has it already, and
// runs it once.
func (r *runner) buildPeer(ctx context.Context, dir string, s *side) error {
	for _, tool := range []string{s.compiler, s.launch[0]} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("there is no %s", tool)
		}
	}
	s.program = filepath.Join(dir, r.cfg.bench+"-"+s.compiler)
	if _, err := os.Stat(s.program); os.IsNotExist(err) {
		source := filepath.Join(dir, "mpi", r.cfg.bench+".c")
		out, err := exec.CommandContext(ctx, s.compiler, "-O2", "-o", s.program, source).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", s.compiler, err, lastLine(string(out)))
		}
	}
	s.about = version(ctx, s.launch[0])
	return r.try(ctx, s)
}

// try runs a side once, shortly, so that one that can't run is known before
// the measurements begin.
func (r *runner) try(ctx context.Context, s *side) error {
	out, _, err := r.run(ctx, s, []string{"-m", "8:8", "-i", "10", "-x", "1"})
	if err != nil {
		return err
	}
	if _, err := parseOutput(out, 8); err != nil {
		return err
	}
	if cpus := parseCPUs(out); cpus != pinned {
		r.note("%s: CAUTION: its ranks are pinned to CPUs %s, not to %s (-1: not to one)", s.name, cpus, pinned)
	}
	return nil
}

// version is the line of a launcher's --version that has the number.
func version(ctx context.Context, launcher string) string {
	out, _ := exec.CommandContext(ctx, launcher, "--version").Output()
	for line := range strings.Lines(string(out)) {
		if strings.ContainsAny(line, "0123456789") {
			return launcher + ": " + strings.TrimPrefix(strings.Join(strings.Fields(line), " "), launcher+" ")
		}
	}
	return launcher
}
