package comm

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is known of a rank: little before the first message, and then how its large
// messages come.
func TestPeerInfo(t *testing.T) {
	for _, way := range []string{"stream", "copy", "auto"} {
		run(t, 3, Config{Read: way}, func(ctx context.Context, c *Comm) error {
			w := c.World()
			if c.Rank() == 1 {
				w.peers[2].near = false
			}
			before := w.Info().Peers
			me := before[c.Rank()]
			if me.Device != "self" || me.Connected || !me.SameHost || me.Host == "" || me.Way != "" {
				return fmt.Errorf("this rank: %+v", me)
			}
			buf := make([]byte, 1<<20)
			switch c.Rank() {
			case 0:
				return Send(ctx, c, buf, 1, 0)
			case 2:
				return nil
			}
			if p := before[0]; p.Device != "shm" || !p.SameHost || p.Connected && p.Way != way {
				return fmt.Errorf("before: %+v", p)
			}
			if _, err := Recv(ctx, c, buf, 0, 0); err != nil {
				return err
			}
			after := w.Info()
			p := after.Peers[0]
			if p.Lost != nil { // it has finished, and the connection is over
				return nil
			}
			want := PeerInfo{Host: me.Host, SameHost: true, Device: "shm", Connected: true, SingleCopy: p.SingleCopy, Way: way}
			if way == "copy" { // what was read says whether the system allows it
				want.SingleCopy = after.Counters["device.reads.copy"] != 0
			}
			if !want.SingleCopy {
				want.Way = "stream"
			}
			if d := cmp.Diff(want, p); d != "" {
				return fmt.Errorf("after (-want +got):\n%s", d)
			}
			if w.Info().Peers[2].SameHost {
				return fmt.Errorf("a rank of another host: %+v", w.Info().Peers[2])
			}
			return nil
		})
	}
}
