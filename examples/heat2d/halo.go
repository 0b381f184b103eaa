package main

import (
	"context"

	"github.com/verbena-mpi/verbena/comm"
)

// halo exchanges the borders of a block with its neighbours. Where there is none,
// the neighbour is ProcNull, and the call does nothing.
type halo struct {
	grid                  *comm.Cart
	p                     *plate
	up, down, left, right int
	out, in               []float64 // a column, which isn't in one piece
}

func newHalo(grid *comm.Cart, p *plate) *halo {
	h := &halo{grid: grid, p: p}
	h.up, h.down = grid.Shift(0, 1)
	h.left, h.right = grid.Shift(1, 1)
	h.out, h.in = make([]float64, p.height()), make([]float64, p.height())
	return h
}

// exchange sends each border one way and fills the margin on the other side from
// there: up, down, left, right.
func (h *halo) exchange(ctx context.Context) error {
	p, last := h.p, h.p.height()-1
	if _, err := comm.Sendrecv(ctx, h.grid.Comm, p.row(0), h.up, tagBorder, p.row(last+1), h.down, tagBorder); err != nil {
		return err
	}
	if _, err := comm.Sendrecv(ctx, h.grid.Comm, p.row(last), h.down, tagBorder, p.row(-1), h.up, tagBorder); err != nil {
		return err
	}
	if err := h.columns(ctx, 1, h.left, p.width-1, h.right); err != nil {
		return err
	}
	return h.columns(ctx, p.width-2, h.right, 0, h.left)
}

// columns sends one column to a neighbour and receives another from one.
func (h *halo) columns(ctx context.Context, from, dest, to, source int) error {
	p := h.p
	for y := range h.out {
		h.out[y] = p.now[(y+1)*p.width+from]
	}
	_, err := comm.Sendrecv(ctx, h.grid.Comm, h.out, dest, tagBorder, h.in, source, tagBorder)
	if err != nil || source == comm.ProcNull {
		return err
	}
	for y, v := range h.in {
		p.now[(y+1)*p.width+to] = v
	}
	return nil
}
