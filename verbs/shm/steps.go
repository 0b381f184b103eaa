//go:build linux

package shm

// The marked points of a send.
const (
	stepCell      = iota // a cell was chosen
	stepClaimed          // a slot was claimed
	stepCopied           // the bytes were copied
	stepPublished        // the cell's word was stored
	stepBell             // the bell was rung
	// Steps is how many there are.
	Steps
)
