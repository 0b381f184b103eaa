package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/verbena-mpi/verbena/comm"
	"github.com/verbena-mpi/verbena/comm/commtest"
)

// behaviour is a rule, as a sender and a receiver live it.
type behaviour struct {
	name string
	send func(context.Context, *exchange) error
	recv func(context.Context, *exchange) error
}

// behaviours are all; each file of them adds its own.
func behaviours() []behaviour {
	var all []behaviour
	for _, some := range [][]behaviour{matching, probing, modes, data, layouts, requests, persistent, communicators} {
		all = append(all, some...)
	}
	return all
}

// limit is for one behaviour at one place.
const limit = 60 * time.Second

func TestConformance(t *testing.T) {
	places := pairwise(allPlaces())
	if os.Getenv("VERBENA_LONG") == "1" {
		places = allPlaces()
	}
	for _, b := range behaviours() {
		t.Run(b.name, func(t *testing.T) {
			for _, p := range places {
				t.Run(p.String(), func(t *testing.T) { p.run(t, b) })
			}
		})
	}
}

// run runs a behaviour: rank 0 sends and rank 1 receives, or rank 0 does both.
func (p place) run(t *testing.T, b behaviour) {
	h := newHandshake()
	n := 2
	if p.device.self {
		n = 1
	}
	p.ranks(t, n, func(ctx context.Context, c *comm.Comm) error {
		apart, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		x := exchange{place: p, handshake: h, c: c, apart: apart, peer: n - 1 - c.Rank()}
		var g errgroup.Group
		if c.Rank() == 0 {
			sender := x
			g.Go(func() error { return h.ended("sender", b.send(ctx, &sender)) })
		}
		if c.Rank() == n-1 {
			receiver := x
			receiver.side = 1
			g.Go(func() error { return h.ended("receiver", b.recv(ctx, &receiver)) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
		if err := apart.Barrier(ctx); err != nil { // or one would end while the other looks
			return err
		}
		if _, left, err := c.Iprobe(comm.AnySource, comm.AnyTag); left || err != nil {
			return fmt.Errorf("when all was received: a message is there: %v; %w", left, err)
		}
		return errors.Join(apart.Barrier(ctx), apart.Free())
	})
}

// ranks runs f as n ranks, goroutines of this process, on the place's device.
func (p place) ranks(t *testing.T, n int, f comm.RunFunc) {
	opts := []commtest.Option{commtest.Config(p.config()), commtest.Limit(limit)}
	if p.device.verbs != "" {
		opts = append(opts, commtest.Device(p.device.verbs))
	}
	commtest.Run(t, n, f, opts...)
}

// Each pair of values is in the table's short form.
func TestPairwise(t *testing.T) {
	all := allPlaces()
	want, got := map[string]bool{}, map[string]bool{}
	for _, p := range all {
		for _, pair := range p.pairs() {
			want[pair] = true
		}
	}
	chosen := pairwise(all)
	for _, p := range chosen {
		for _, pair := range p.pairs() {
			got[pair] = true
		}
	}
	if len(got) != len(want) || len(chosen) >= len(all)/2 {
		t.Errorf("%d places of %d have %d pairs of %d", len(chosen), len(all), len(got), len(want))
	}
}
