package launcher

import (
	"bytes"
	"encoding/gob"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever comes from an agent, the supervisor goes on: the host is lost at most.
func FuzzFromAgent(f *testing.F) {
	for _, m := range []fromAgent{
		{Ready: &agentReady{Where: []string{"core 0", "core 1"}}},
		{Ready: &agentReady{Missing: []int{0, -1, 1 << 40}}},
		{Refused: &agentRefusal{Status: 127, Text: "no"}},
		{Started: []int{7, 8}},
		{Deaths: &agentDeaths{Batch: batch{Exits: []exit{{Rank: 2, Pid: 8, Status: 9, Seq: 1, Crash: []byte("panic: x"), Taken: 5}, {Rank: -1}}, Dying: []int{0}}, Look: 1}},
		{Empty: true},
		{Ended: &agentEnded{ID: 3, Status: 255 << 8}},
	} {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(m); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m fromAgent
		if gob.NewDecoder(bytes.NewReader(b)).Decode(&m) != nil {
			return
		}
		for _, begun := range []bool{false, true} {
			v := aliens(t)
			h := v.hosts[0]
			h.way.words = &starterWords{}
			if begun {
				v.heed(hostEvent{h: h, msg: m})
			} else if err := v.greeted(hostEvent{h: h, msg: m}); err != nil {
				if e, ok := errors.AsType[*Error](err); !ok || e.Err == nil {
					t.Errorf("%v", err)
				}
			}
			if v.ranks[1].reaped || v.ranks[1].pid != 101 {
				t.Errorf("it has changed another host's rank: %+v", v.ranks[1])
			}
		}
	})
}

func TestAgentOptions(t *testing.T) {
	for _, o := range []agentOptions{
		{patience: minPatience},
		{patience: 10 * minPatience, home: "/tmp/it's = a \n place", sum: []byte{0, 1, 255}},
	} {
		got, err := parseAgentOptions(o.args())
		if d := cmp.Diff(o, got, cmp.AllowUnexported(agentOptions{})); err != nil || d != "" {
			t.Errorf("%+v: %v (-want +got)\n%s", o, err, d)
		}
	}
	for _, args := range [][]string{nil, {"patience=1"}, {"patience=x"}, {"patience=5000", "sum=xyz"}, {"patience=5000", "port=7"}, {"5000"}} {
		if o, err := parseAgentOptions(args); err == nil {
			t.Errorf("%q: %+v", args, o)
		}
	}
}
