package conformance

import (
	"context"
	"fmt"
	"os"
	"slices"
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

// run runs a behaviour on ranks of its own.
func (p place) run(t *testing.T, b behaviour) {
	pairings := p.device.pairings()
	n := slices.Max(pairings) + 1
	shakes := make([]*handshake, n*len(pairings)) // by pairing and lower rank
	for i := range shakes {
		shakes[i] = newHandshake("", "")
	}
	p.ranks(t, n, func(ctx context.Context, c *comm.Comm) error {
		return p.meet(ctx, c, b, func(pairing, lower int) *handshake { return shakes[pairing*n+lower] })
	})
}

// meet runs a behaviour between each rank and another one at once, of which the lower
// one sends, or within one rank.
func (p place) meet(ctx context.Context, c *comm.Comm, b behaviour, shake func(pairing, lower int) *handshake) error {
	apart, err := c.Dup(ctx)
	if err != nil {
		return err
	}
	for i, to := range p.device.pairings() {
		peer := c.Rank() ^ to
		x := exchange{place: p, handshake: shake(i, min(c.Rank(), peer)), c: c, apart: apart, peer: peer}
		if err := x.live(ctx, b); err != nil {
			return err
		}
		if err := apart.Barrier(ctx); err != nil { // or one would end while the other looks
			return err
		}
		if _, left, err := c.Iprobe(comm.AnySource, comm.AnyTag); left || err != nil {
			return fmt.Errorf("when all was received: a message is there: %v; %w", left, err)
		}
		if err := apart.Barrier(ctx); err != nil {
			return err
		}
	}
	return apart.Free()
}

// live is this rank's part, or both parts.
func (x exchange) live(ctx context.Context, b behaviour) error {
	h, rank := x.handshake, x.c.Rank()
	var g errgroup.Group
	if rank <= x.peer {
		sender := x
		g.Go(func() error { return h.ended("sender", b.send(ctx, &sender)) })
	}
	if rank >= x.peer {
		receiver := x
		receiver.side = 1
		g.Go(func() error { return h.ended("receiver", b.recv(ctx, &receiver)) })
	}
	return g.Wait()
}

// ranks runs f as n ranks, goroutines of this process, on the place's device.
func (p place) ranks(t *testing.T, n int, f comm.RunFunc) {
	opts := []commtest.Option{commtest.Config(p.config()), commtest.Limit(limit)}
	if p.device.hosts != 0 {
		opts = append(opts, commtest.Hosts(p.device.hosts))
	} else if p.device.verbs != "" {
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
