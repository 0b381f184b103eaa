package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// party is a rank in an epoch.
type party struct {
	*epoch
	comms []*Comm
	me    int
	rng   *rand.Rand

	posts int         // receives so far
	done  []*expected // those that were started, in that order
	out   []Request   // sends
}

// expected is a receive.
type expected struct {
	on, source, tag int
	buf             []byte
	all             []byte // with what lies around it
	call            string
	posted          int // when, among those of its epoch
	request         Request
	status          Status
	err             error
}

// margin is what lies on either side of a buffer.
const margin = 16

// receives makes the receives of a rank: as many as there are messages for it,
// named as the epoch says, in random order.
func (p *party) receives() (list []*expected) {
	for _, m := range p.to[p.me] {
		x := &expected{on: m.on, source: p.rankOn(m.on, m.from), tag: m.tag}
		switch {
		case p.naming == nameAll:
			x.source, x.tag = AnySource, AnyTag
		case p.naming == nameMixed:
			if p.rng.IntN(2) == 0 {
				x.source = AnySource
			}
			if p.rng.IntN(2) == 0 {
				x.tag = AnyTag
			}
		case p.naming == nameSources:
			x.tag = AnyTag
		case m.tag >= anyTagged:
			x.source = AnySource
		}
		room := m.size
		if p.rng.IntN(4) == 0 {
			room = p.rng.IntN(2*m.size + 2)
		}
		x.all = bytes.Repeat([]byte{0xee}, margin+room+margin)
		x.buf = x.all[margin : margin+room]
		list = append(list, x)
	}
	p.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// sends are a rank's messages: those to one receiver in order, mixed at random.
func (p *party) sends() (list []mail) {
	var queues [][]mail
	for _, to := range p.to {
		if q := slices.DeleteFunc(slices.Clone(to), func(m mail) bool { return m.from != p.me }); len(q) > 0 {
			queues = append(queues, q)
		}
	}
	for len(queues) > 0 {
		i := p.rng.IntN(len(queues))
		list = append(list, queues[i][0])
		if queues[i] = queues[i][1:]; len(queues[i]) == 0 {
			queues = slices.Delete(queues, i, i+1)
		}
	}
	return list
}

// play is the epoch of one rank; together is what is random for all ranks alike.
func (p *party) play(ctx context.Context, together *rand.Rand) error {
	if err := p.neighbours(ctx, together); err != nil {
		return fmt.Errorf("neighbours: %w", err)
	}
	if err := nobody(ctx, p.comms[p.rng.IntN(comms)]); err != nil {
		return err
	}
	recvs, sends := p.receives(), p.sends()
	for p.order == receivesFirst && len(recvs) > 0 {
		if err := p.receive(ctx, &recvs, false); err != nil {
			return err
		}
	}
	for len(sends) > 0 {
		if p.order == anyOrder && len(recvs) > 0 && p.rng.IntN(2) == 0 {
			if err := p.receive(ctx, &recvs, false); err != nil {
				return err
			}
			continue
		}
		if err := p.send(ctx, &sends, p.order == receivesFirst); err != nil {
			return err
		}
		if err := p.look(ctx); err != nil {
			return err
		}
	}
	// All that this rank sends is under way: it may wait.
	for len(recvs) > 0 {
		if err := p.receive(ctx, &recvs, p.rng.IntN(2) == 0); err != nil {
			return err
		}
	}
	if err := p.finish(ctx); err != nil {
		return err
	}
	w := blindWaits[p.rng.IntN(len(blindWaits))]
	if err := w.call(ctx, p.out, p.rng); err != nil {
		return fmt.Errorf("%s of the sends: %w", w.name, err)
	}
	return p.check(p.done)
}

// send sends the next message, by a call that may wait or by one that doesn't.
func (p *party) send(ctx context.Context, sends *[]mail, mayWait bool) error {
	m := (*sends)[0]
	*sends = (*sends)[1:]
	for {
		call := sendCalls[p.rng.IntN(len(sendCalls))]
		if call.waits && !mayWait || call.can != nil && !call.can(m.size) {
			continue
		}
		r, err := call.call(sent1{ctx, p.comms[m.on], m.content(), p.rankOn(m.on, m.to), m.tag})
		if err != nil {
			return fmt.Errorf("%s of %+v: %w", call.name, m, err)
		}
		p.out = append(p.out, r)
		return nil
	}
}

// receive starts the next receive, or receives at once.
func (p *party) receive(ctx context.Context, recvs *[]*expected, mayWait bool) error {
	x := (*recvs)[0]
	*recvs = (*recvs)[1:]
	for {
		call := recvCalls[p.rng.IntN(len(recvCalls))]
		if call.waits != mayWait {
			continue
		}
		x.call = call.name
		p.note(x)
		if err := call.call(ctx, p.comms[x.on], x); err != nil {
			return fmt.Errorf("%s, receive %d (source %d, tag %d): %w", call.name, x.posted, x.source, x.tag, err)
		}
		return nil
	}
}

// note puts a receive behind all others.
func (p *party) note(x *expected) {
	x.posted = p.posts
	p.posts++
	p.done = append(p.done, x)
}

// look tests a send, or takes a receive back and posts it behind the others, now and
// then.
func (p *party) look(ctx context.Context) error {
	switch i := p.rng.IntN(12); {
	case i < 3 && len(p.out) > 0:
		i := p.rng.IntN(len(p.out))
		if _, done, err := p.out[i].Test(); err != nil {
			return err
		} else if done {
			p.out = slices.Delete(p.out, i, i+1)
		}
	case i == 3 && len(p.done) > 0:
		i := p.rng.IntN(len(p.done))
		x := p.done[i]
		if x.request == (Request{}) {
			return nil
		}
		x.request.Cancel()
		s, done, err := x.request.Test()
		switch {
		case errors.Is(err, ErrCanceled):
			p.done = slices.Delete(p.done, i, i+1)
			x.request = Irecv(p.comms[x.on], x.buf, x.source, x.tag)
			p.note(x)
		case done:
			x.request, x.status, x.err = Request{}, s, err
		}
	}
	return ctx.Err()
}

// finish waits for the receives that are still open, in one of several ways.
func (p *party) finish(ctx context.Context) error {
	var open []*expected
	for _, x := range p.done {
		if x.request != (Request{}) {
			open = append(open, x)
		}
	}
	p.rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	requests := make([]Request, len(open))
	for i, x := range open {
		requests[i] = x.request
	}
	ended := make([]int, len(open))
	w := waitCalls[p.rng.IntN(len(waitCalls))]
	err := w.call(ctx, requests, p.rng, func(i int, s Status, err error) {
		ended[i]++
		open[i].status, open[i].err = s, err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	if i := slices.IndexFunc(ended, func(n int) bool { return n != 1 }); i >= 0 {
		return fmt.Errorf("%s: receive %d of %d ended %d times", w.name, i, len(open), ended[i])
	}
	return nil
}

// neighbours exchanges messages of any size with other ranks, in both ways at once.
func (p *party) neighbours(ctx context.Context, together *rand.Rand) error {
	for round := range p.rounds {
		on, shift, size, replace := together.IntN(comms), 1+together.IntN(p.ranks), randomSize(together), together.IntN(2) == 0
		c := p.comms[on]
		to, from := (c.Rank()+shift)%p.ranks, (c.Rank()+p.ranks-shift%p.ranks)%p.ranks
		message := func(rank int) []byte {
			b := make([]byte, size)
			pattern(b, rank*100+round)
			return b
		}
		out, in := message(c.Rank()), make([]byte, size)
		var s Status
		var err error
		if replace {
			s, err = SendrecvReplace(ctx, c, out, to, round, from, round)
			in = out
		} else {
			s, err = Sendrecv(ctx, c, out, to, round, in, from, AnyTag)
		}
		if err != nil {
			return err
		}
		if (s != Status{Source: from, Tag: round, Bytes: int64(size)}) || !bytes.Equal(in, message(from)) {
			return fmt.Errorf("round %d, %d bytes of rank %d (replaced: %v): %+v, or another content", round, size, from, replace, s)
		}
	}
	return nil
}

// nobody sends to nobody, receives from nobody, and looks for what isn't there.
func nobody(ctx context.Context, c *Comm) error {
	b := []byte{0xee}
	s1, err1 := Recv(ctx, c, b, ProcNull, 3)
	s2, err2 := c.Probe(ctx, ProcNull, AnyTag)
	s3, err3 := Irecv(c, b, ProcNull, 3).Wait(ctx)
	err := errors.Join(err1, err2, err3, Send(ctx, c, b, ProcNull, 3), WaitAll(ctx, Isend(c, b, ProcNull, 3)))
	for _, s := range []Status{s1, s2, s3} {
		if err != nil || (s != Status{Source: ProcNull, Tag: AnyTag}) || b[0] != 0xee {
			return fmt.Errorf("from nobody: %+v, %x, %w", s, b, err)
		}
	}
	if s, found, err := c.Iprobe(c.Rank(), tagUnused); found || err != nil {
		return fmt.Errorf("Iprobe found %+v, %w", s, err)
	}
	return nil
}
