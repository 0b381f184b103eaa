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
	column                *comm.Layout // of the plate, from its second row
}

func newHalo(grid *comm.Cart, p *plate) *halo {
	h := &halo{grid: grid, p: p, column: comm.Strided(p.height(), 1, p.width)}
	h.up, h.down = grid.Shift(0, 1)
	h.left, h.right = grid.Shift(1, 1)
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

// columns sends one column to a neighbour and receives another from one. Both lie in the
// plate, a row's width from element to element.
func (h *halo) columns(ctx context.Context, from, dest, to, source int) error {
	p := h.p
	_, err := comm.Sendrecv(ctx, h.grid.Comm, p.now[p.width+from:], dest, tagBorder, p.now[p.width+to:], source, tagBorder, h.column)
	return err
}
