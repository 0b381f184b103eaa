package main

import (
	"fmt"
	"math"
)

// plate is a block with a margin of one around it: the neighbours' borders, or the
// edge of the whole plate, which stays as it is.
type plate struct {
	block
	width     int       // of a row, with its margin
	now, next []float64 // temperatures, row by row
}

func newPlate(b block) *plate {
	p := &plate{block: b, width: b.right - b.left + 2}
	p.now = make([]float64, (b.bottom-b.top+2)*p.width)
	p.next = make([]float64, len(p.now))
	if b.top == 0 { // above the first row it is hot
		for x := range p.width {
			p.now[x], p.next[x] = 100, 100
		}
	}
	return p
}

func (p *plate) height() int { return p.bottom - p.top }

// row is a row of the block, without its margin; -1 and height() are the margin's.
func (p *plate) row(y int) []float64 {
	from := (y+1)*p.width + 1
	return p.now[from : from+p.width-2]
}

// step makes each temperature the mean of its four neighbours', and returns the
// largest change.
func (p *plate) step() (change float64) {
	w := p.width
	for y := 1; y <= p.height(); y++ {
		for i := y*w + 1; i < (y+1)*w-1; i++ {
			p.next[i] = (p.now[i-w] + p.now[i-1] + p.now[i+1] + p.now[i+w]) / 4
			change = max(change, math.Abs(p.next[i]-p.now[i]))
		}
	}
	p.now, p.next = p.next, p.now
	return change
}

// inside is the block without its margin.
func (p *plate) inside() []float64 {
	all := make([]float64, 0, p.height()*(p.width-2))
	for y := range p.height() {
		all = append(all, p.row(y)...)
	}
	return all
}

// compare compares a block of the plate with what a rank has computed, to the last
// bit, and returns its heat.
func (p *plate) compare(b block, got []float64) (heat float64, err error) {
	width := b.right - b.left
	if want := (b.bottom - b.top) * width; len(got) != want {
		return 0, fmt.Errorf("%d temperatures, want %d", len(got), want)
	}
	for i, v := range got {
		y, x := b.top+i/width, b.left+i%width
		if want := p.row(y)[x]; v != want {
			return 0, fmt.Errorf("row %d, column %d is %v, want %v", y, x, v, want)
		}
		heat += v
	}
	return heat, nil
}
