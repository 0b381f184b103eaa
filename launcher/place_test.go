package launcher

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/verbena-mpi/verbena/internal/hostlist"
)

var slot, node = MapBy{}, MapBy{Kind: MapNode}

func ppr(n int) MapBy { return MapBy{MapPPR, n} }

// hostsOf reads a hostfile, with spaces for newlines: "h0:2 h1".
func hostsOf(t interface {
	Helper()
	Fatal(args ...any)
}, text string,
) []hostlist.Host {
	t.Helper()
	hosts, err := hostlist.ParseFile("f", strings.ReplaceAll(text, ";", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return hosts
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		hosts string
		ranks int
		by    MapBy
		over  bool
		want  string // a digit for each rank: its host
	}{
		{"a:2;b:2;c:2", 6, slot, false, "001122"},
		{"a:2;b:2;c:2", 3, slot, false, "001"},
		{"a:2;b:2;c:2", 6, node, false, "012012"},
		{"a:3;b:1;c:2", 6, node, false, "012020"},
		{"a:2;b:2;c:2", 3, node, false, "012"},
		{"a:2;b:2;c:2", 0, slot, false, "001122"},
		{"a:1;b:3", 0, slot, false, "0111"},
		{"a:1;b:3", 0, node, false, "0111"},
		{"a;b;c", 0, slot, false, "012"},
		// Without stated slots there is no limit, and all are alike.
		{"a;b;c", 6, slot, false, "001122"},
		{"a;b;c", 7, slot, false, "0001122"},
		{"a;b;c", 2, slot, false, "01"},
		{"a;b;c", 7, node, false, "0120120"},
		{"a;b:2;c", 3, slot, false, "011"},
		{"a;b:2", 1, slot, false, "0"},
		{"a;b:2;c", 5, slot, false, "00112"},
		{"a;b:2;c", 7, node, false, "0120120"},
		{"a;b:2;c", 9, node, false, "012012020"},
		// Oversubscription: stated slots first, then all alike.
		{"a:2;b:2;c:2", 8, slot, true, "00011122"},
		{"a:1;b:3", 6, slot, true, "001111"},
		{"a:1;b:3", 6, node, true, "010101"},
		{"a:1;b:3", 3, slot, true, "011"},
		{"a slots=1 max_slots=2;b:3", 8, slot, true, "00111111"},
		{"a slots=1 max_slots=2;b:3", 8, node, true, "01011111"},
		{"a max_slots=2;b:1", 3, slot, false, "001"},
		{"a:2;b:2;c:2", 6, ppr(2), false, "001122"},
		{"a:2;b:2;c:2", 4, ppr(2), false, "0011"},
		{"a:2;b:2;c:2", 0, ppr(1), false, "012"},
		{"a;b", 0, ppr(3), false, "000111"},
		{"a:1;b", 0, ppr(3), true, "000111"},
	} {
		got, err := place(hostsOf(t, c.hosts), c.ranks, c.by, c.over)
		var b strings.Builder
		for _, h := range got {
			b.WriteByte('0' + byte(h))
		}
		if err != nil || b.String() != c.want {
			t.Errorf("%+v: %q, %v", c, b.String(), err)
		}
	}
}

// A program may state max_slots alone.
func TestPlaceMaxAlone(t *testing.T) {
	got, err := place([]hostlist.Host{{Name: "a", Max: 1}, {Name: "b"}}, 4, slot, false)
	if d := cmp.Diff([]int{0, 1, 1, 1}, got); err != nil || d != "" {
		t.Error(err, d)
	}
}

func TestPlaceRefuses(t *testing.T) {
	for _, c := range []struct {
		hosts string
		ranks int
		by    MapBy
		over  bool
		want  string
	}{
		{"h0:2;#;h1:2;h2:2", 8, slot, false, "8 ranks asked, 6 slots: h0 2 (f:1), h1 2 (f:3), h2 2 (f:4); use --oversubscribe or -n 6"},
		{"h0:2;h1:2", 5, node, false, "5 ranks asked, 4 slots: h0 2 (f:1), h1 2 (f:2); use --oversubscribe or -n 4"},
		{"h0 slots=2 max_slots=3;h1 max_slots=1", 5, slot, true, "5 ranks asked, 4 allowed by max_slots: h0 3 (f:1), h1 1 (f:2); use -n 4"},
		{"h0:2;h1:1", 0, ppr(2), false, "--map-by ppr:2: 2 ranks on h1, and it has 1 slot (f:2); use --oversubscribe or ppr:1"},
		{"h0:2;h1 slots=1 max_slots=2", 0, ppr(3), true, "--map-by ppr:3: 3 ranks on h1, and it has max_slots 2 (f:2)"},
		{"h0;h1", 5, ppr(2), false, "5 ranks asked, and --map-by ppr:2 gives 4 on 2 hosts: use -n 4, or more hosts"},
		{"h0:5000", 0, slot, false, "5000 ranks: expected at most 4096"},
	} {
		_, err := place(hostsOf(t, c.hosts), c.ranks, c.by, c.over)
		var e *Error
		if !errors.As(err, &e) || e.Status != StatusUsage || e.Error() != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Every rank is placed, each host is within its limits, no host is passed over by slot
// while it has room, and a second call says the same.
func TestPlaceProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) hostlist.Host {
			h := hostlist.Host{Name: "h", Slots: rapid.IntRange(0, 5).Draw(t, "slots")}
			if h.Slots > 0 && rapid.Bool().Draw(t, "bounded") {
				h.Max = h.Slots + rapid.IntRange(0, 3).Draw(t, "more")
			}
			return h
		}), 1, 6).Draw(t, "hosts")
		ranks := rapid.IntRange(0, 40).Draw(t, "ranks")
		by := rapid.SampledFrom([]MapBy{slot, node, ppr(1), ppr(4)}).Draw(t, "by")
		over := rapid.Bool().Draw(t, "oversubscribe")
		room, open := 0, false
		limit := make([]int, len(hosts)) // -1: none
		for i, h := range hosts {
			switch {
			case h.Slots > 0 && !over:
				limit[i] = h.Slots
			case h.Max > 0:
				limit[i] = h.Max
			default:
				limit[i], open = -1, true
			}
			room += max(limit[i], 0)
		}
		got, err := place(hosts, ranks, by, over)
		if err != nil {
			if by.Kind != MapPPR && (open || ranks <= room) {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		if ranks > 0 && len(got) != ranks {
			t.Fatalf("%d ranks placed", len(got))
		}
		if by.Kind != MapNode && !slices.IsSorted(got) {
			t.Fatalf("not by blocks: %v", got)
		}
		counts := make([]int, len(hosts))
		for _, h := range got {
			counts[h]++
		}
		for i, n := range counts {
			if limit[i] >= 0 && n > limit[i] {
				t.Fatalf("host %d: %d ranks, limit %d", i, n, limit[i])
			}
			if by.Kind == MapPPR && n > by.N {
				t.Fatalf("host %d: %d ranks by %v", i, n, by)
			}
			if by.Kind == MapSlot && n > 0 && i > 0 && counts[i-1] < hosts[i-1].Slots {
				t.Fatalf("host %d has room: %v", i-1, counts)
			}
		}
		again, _ := place(hosts, ranks, by, over)
		if d := cmp.Diff(got, again); d != "" {
			t.Fatal(d)
		}
	})
}

// Local numbers count from 0 on each host, and parts go on where the one before ended.
func TestPlan(t *testing.T) {
	hosts := hostsOf(t, "a:2;b:3")
	p, err := newPlan([]int{1, 2, 1}, hosts, node, false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]seat{{0, 0, 0}, {1, 1, 0}, {1, 0, 1}, {2, 1, 1}}, p.Seats); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]int{{0, 2}, {1, 3}, {2, 2}, {0, 1}}, [][]int{p.ranksOn(0), p.ranksOn(1), p.Count, p.remote()}); d != "" {
		t.Error(d)
	}
	if p, err = newPlan([]int{0}, hosts, slot, false); err != nil || len(p.Seats) != 5 || p.here() != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	// A job without hosts: this one, and no limit.
	p, err = newPlan([]int{100, 1}, nil, slot, false)
	if err != nil || len(p.Seats) != 101 || p.Seats[100] != (seat{1, 0, 100}) || p.here() != 101 || p.remote() != nil {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestDisplay(t *testing.T) {
	hosts := hostsOf(t, "a:2;u@b slots=1 max_slots=9;c;d:1")
	hosts[0].Local = true
	p, err := newPlan([]int{5}, hosts, slot, false)
	if err != nil {
		t.Fatal(err)
	}
	want := "a: 2 slots (f:1), this host: ranks 0-1\nu@b: 1 slot, at most 9 (f:2): rank 2\nc: slots not stated (f:3): rank 3\nd: 1 slot (f:4): rank 4\n"
	if d := cmp.Diff(want, p.display()); d != "" {
		t.Error(d)
	}
}

func TestParseMapBy(t *testing.T) {
	for s, want := range map[string]string{
		"": "slot", "slot": "slot", "node": "node", "ppr:3": "ppr:3", "ppr:3:node": "ppr:3",
		"core": `"core" is none of slot, node, ppr:N`,
		"ppr:": `"ppr:": expected ppr:N, N ranks for each host, from 1 to 4096`, "ppr:0": "", "ppr:4097": "", "ppr:2:socket": "", "ppr:x": "",
	} {
		m, err := ParseMapBy(s)
		got := m.String()
		if err != nil {
			got = err.Error()
		}
		if want != got && (want != "" || err == nil) {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
}
