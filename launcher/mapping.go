package launcher

import (
	"fmt"
	"strconv"
	"strings"
)

// MapBy says in which order ranks are given to hosts. The zero value is by slot.
type MapBy struct {
	Kind MapKind
	N    int // ranks per host, for MapPPR
}

// MapKind is a way to give ranks to hosts.
type MapKind int

const (
	MapSlot MapKind = iota // fill one host, then the next
	MapNode                // one rank for each host, and again
	MapPPR                 // N ranks for each host, one host after the other
)

// ParseMapBy reads the value of --map-by.
func ParseMapBy(s string) (MapBy, error) {
	switch s {
	case "", "slot":
		return MapBy{}, nil
	case "node":
		return MapBy{Kind: MapNode}, nil
	}
	if text, ok := strings.CutPrefix(s, "ppr:"); ok {
		text = strings.TrimSuffix(text, ":node") // Open MPI's spelling
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > MaxRanks {
			return MapBy{}, fmt.Errorf("%q: expected ppr:N, N ranks for each host, from 1 to %d", s, MaxRanks)
		}
		return MapBy{MapPPR, n}, nil
	}
	return MapBy{}, fmt.Errorf("%q is none of slot, node, ppr:N", s)
}

// String is what ParseMapBy reads.
func (m MapBy) String() string {
	switch m.Kind {
	case MapNode:
		return "node"
	case MapPPR:
		return "ppr:" + strconv.Itoa(m.N)
	default:
		return "slot"
	}
}

func (m MapBy) validate() error {
	switch {
	case m.Kind < MapSlot || m.Kind > MapPPR:
		return fail(StatusUsage, "mapping %d is unknown", m.Kind)
	case m.Kind == MapPPR && (m.N < 1 || m.N > MaxRanks):
		return fail(StatusUsage, "%d ranks for each host: expected 1 to %d", m.N, MaxRanks)
	}
	return nil
}
