package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/verbs"
)

// hosts are ranks by the host that they believe to be on.
func (c Config) hosts(t testing.TB, hosts []int) (*bootstrap.Local, settings) {
	t.Helper()
	s, err := c.resolve(os.Environ(), logrus.New())
	if err != nil {
		t.Fatal(err)
	}
	if s.Devices.value.near() == nil {
		t.Skip("no device for ranks of one machine")
	}
	if s.Devices.value.far() == nil {
		far := *s.Devices.value.near()
		far.name, far.near = "far", false
		open := far.open
		far.open = func(o opening) (verbs.Device, error) {
			d, err := open(o)
			return plainDevice{d}, err
		}
		s.Devices.value.kinds = append(s.Devices.value.kinds, &far)
	}
	job := bootstrap.NewLocal(len(hosts), "")
	job.Hosts = hosts
	return job, s
}

// plainDevice hides that a device can take back what a peer may read.
type plainDevice struct{ verbs.Device }

func (d plainDevice) NewQP(c verbs.QPConfig) (verbs.QP, error) {
	q, err := d.Device.NewQP(c)
	return struct{ verbs.QP }{q}, err
}

func (d plainDevice) Register(mem []byte, a verbs.Access) (verbs.MR, error) {
	m, err := d.Device.Register(mem, a)
	return struct{ verbs.MR }{m}, err
}

// Die implements verbs.Mortal.
func (d plainDevice) Die() { d.Device.(verbs.Mortal).Die() }

// runHosts is run for ranks that believe to be on those hosts.
func runHosts(t *testing.T, hosts []int, c Config, body func(context.Context, *Comm) error) {
	t.Helper()
	job, s := c.hosts(t, hosts)
	for r, err := range runJob(t, job, s, body) {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// Ranks of one host use one device, and ranks of different hosts another: which, the
// ranks say, and a device that reaches nobody is not in use.
func TestHosts(t *testing.T) {
	for name, v := range map[string]struct {
		hosts []int
		near  []int // by rank: how many others are on its host
	}{
		"2x2":   {[]int{0, 0, 1, 1}, []int{1, 1, 1, 1}},
		"mixed": {[]int{0, 1, 0, 2, 0}, []int{2, 0, 2, 0, 2}},
		"1x3":   {[]int{7, 7, 7}, []int{2, 2, 2}},
		"3x1":   {[]int{0, 1, 2}, []int{0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []Config{{}, {CheckTypes: true}, {Recv: "peer", EagerLimit: 300}} {
				runHosts(t, v.hosts, c, func(ctx context.Context, c *Comm) error {
					list := c.world.settings.Devices.value
					info, far := c.World().Info(), 0
					for _, p := range info.Peers {
						same := v.hosts[p.Rank] == v.hosts[c.Rank()]
						want := list.far().name
						switch {
						case p.Rank == c.Rank():
							want = "self"
						case same:
							want = list.near().name
						default:
							far++
						}
						if p.Device != want || p.SameHost != same {
							return fmt.Errorf("peer %+v, want device %s", p, want)
						}
					}
					var use []string
					if v.near[c.Rank()] > 0 {
						use = append(use, list.near().name)
					}
					if far > 0 {
						use = append(use, list.far().name)
					}
					if d := cmp.Diff(strings.Join(use, ","), info.Device); d != "" || far+v.near[c.Rank()] != c.Size()-1 {
						return fmt.Errorf("devices (-want +got)\n%s", d)
					}
					return allToAll(ctx, c)
				})
			}
		})
	}
}

// allToAll sends messages of many lengths, from memory of each kind, from each rank to
// each, received by name and from anybody.
func allToAll(ctx context.Context, c *Comm) error {
	for _, n := range []int{0, 8, 200, 3000, 100_003} {
		for kind := range 3 {
			tag := 3*n + kind
			out := make([]byte, max(n, 8))
			if kind == 1 {
				out = Alloc[byte](c, max(n, 8))
			}
			for i := range out {
				out[i] = byte(c.Rank()*7 + i*3 + n + kind)
			}
			var opts []Option
			sent := out[:n]
			if kind == 2 && n >= 8 {
				opts, sent = append(opts, Strided(n/2, 1, 2)), nil // packed
				for i := range n / 2 {
					sent = append(sent, out[2*i])
				}
			}
			var sends []Request
			for r := range c.Size() {
				if r != c.Rank() {
					sends = append(sends, Isend(c, out[:n], r, tag, opts...))
				}
			}
			seen := make([]bool, c.Size())
			for k := range c.Size() - 1 {
				source := AnySource
				if kind == 0 {
					source = (c.Rank() + 1 + k) % c.Size()
				}
				in := make([]byte, n)
				s, err := Recv(ctx, c, in, source, tag)
				if err != nil {
					return err
				}
				want := bytes.Clone(sent)
				for i := range want {
					want[i] += byte((s.Source - c.Rank()) * 7)
				}
				if seen[s.Source] || !bytes.Equal(in[:s.Bytes], want) {
					return fmt.Errorf("%d bytes, memory %d: %+v (seen: %v)", n, kind, s, seen[s.Source])
				}
				seen[s.Source] = true
			}
			if err := WaitAll(ctx, sends...); err != nil {
				return err
			}
			if kind == 1 {
				Free(c, out)
			}
		}
	}
	return c.Barrier(ctx)
}

// A rank that fails is a death to those of its host, and to others; those go on.
func TestDeathAcrossHosts(t *testing.T) {
	job, s := Config{}.hosts(t, []int{0, 0, 1, 1})
	failed := errors.New("no more")
	errs := runJob(t, job, s, func(ctx context.Context, c *Comm) error {
		if err := allToAll(ctx, c); err != nil {
			return err
		}
		if c.Rank() == 1 {
			c.world.abandon()
			return failed
		}
		var gone *PeerError
		if _, err := Recv(ctx, c, make([]byte, 1), 1, 0); !errors.As(err, &gone) || gone.Rank != 1 || gone.Cause != ErrDied {
			return fmt.Errorf("a receive from it: %w", err)
		}
		left := []int{0, 2, 3}
		at := slices.Index(left, c.Rank())
		right, from := left[(at+1)%3], left[(at+2)%3]
		in := make([]byte, 50_000)
		if _, err := Sendrecv(ctx, c, make([]byte, 50_000), right, 0, in, from, 0); err != nil {
			return err
		}
		return failed
	})
	for r, err := range errs {
		if !errors.Is(err, failed) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// Where there is no device for ranks of other hosts, and where ranks are set
// differently, that is said early, and by both.
func TestNoWorld(t *testing.T) {
	near := must(parseDevices("auto")).near()
	if near == nil {
		t.Skip("no device for ranks of one machine")
	}
	for _, v := range []struct {
		name   string
		config [2]Config
		hosts  []int
		is     error
		want   []string
	}{
		{"no device", [2]Config{{Devices: near.name}, {Devices: near.name}}, []int{0, 1}, errNoDevice, []string{"rank %d on ", "VERBENA_DEVICES=" + near.name + " (program)"}},
		{"no such network", [2]Config{{Net: "none0"}, {Net: "none0"}}, []int{0, 1}, nil, []string{"VERBENA_NET=none0 (program)", "none0"}},
		{"devices differ", [2]Config{{Devices: near.name}, {}}, nil, errDevicesDiffer, []string{"VERBENA_DEVICES", "rank %d on ", ": auto", ": " + near.name}},
		{"TLS differs", [2]Config{{}, {TLS: true}}, nil, errTLSDiffers, []string{"VERBENA_TLS", "rank %d on ", ": true", ": false"}},
		{"types differ", [2]Config{{}, {CheckTypes: true}}, nil, errTypesDiffer, []string{"VERBENA_CHECK_TYPES", "rank %d on ", ": true", ": false"}},
	} {
		t.Run(v.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), testLimit)
			defer cancel()
			job := bootstrap.NewLocal(2, "")
			job.Hosts = v.hosts
			var wg sync.WaitGroup
			for rank := range 2 {
				s, err := v.config[rank].resolve(nil, silent())
				if err != nil {
					t.Fatal(err)
				}
				wg.Go(func() {
					_, err := newWorld(ctx, job.Job(rank), s, silent())
					if err == nil || v.is != nil && !errors.Is(err, v.is) {
						t.Errorf("rank %d: %v", rank, err)
						return
					}
					for _, want := range v.want {
						want = strings.ReplaceAll(want, "%d", fmt.Sprint(1-rank))
						if !strings.Contains(err.Error(), want) {
							t.Errorf("rank %d: %v, want %s", rank, err, want)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// Short messages to a rank that computes don't hold up their sender, and don't wake that
// rank for each.
func TestWokenSeldom(t *testing.T) {
	const messages = 1000
	for _, device := range Devices() {
		done := make(chan struct{})
		run(t, 2, Config{Devices: device}, func(ctx context.Context, c *Comm) error {
			buf := make([]byte, 8)
			if c.Rank() == 0 {
				defer close(done)
				if _, err := Recv(ctx, c, buf, 1, 0); err != nil {
					return err
				}
				for range messages {
					if err := Send(ctx, c, buf, 1, 0); err != nil {
						return err
					}
					for begun := time.Now(); time.Since(begun) < 100*time.Microsecond; {
						runtime.Gosched()
					}
				}
				return nil
			}
			if err := Send(ctx, c, buf, 0, 0); err != nil {
				return err
			}
			<-done // which is no call
			if n := c.World().Info().Counters["wait.background"]; n > messages/4 {
				return fmt.Errorf("%s: woken %d times by %d messages", device, n, messages)
			}
			for range messages {
				if _, err := Recv(ctx, c, buf, 0, 0); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Each rank of many talks to each for the first time at once: that takes no more
// connections than pairs, or few more, and ends soon. Before it a rank takes little memory
// for each other one.
func TestFirstContact(t *testing.T) {
	ranks := 16
	if os.Getenv("VERBENA_LONG") != "" {
		ranks = 64
	}
	if !slices.Contains(Devices(), "tcp") {
		t.Skip("no device tcp")
	}
	const few, many = 16, 48
	const slots = 4 * 128 // that are set apart for each rank, and touched when it sends
	var tries []int
	for range 5 { // other goroutines' memory comes and goes
		tries = append(tries, (idleMemory(t, many)-idleMemory(t, few))/(many-few)-slots)
	}
	slices.Sort(tries)
	per := tries[len(tries)/2]
	t.Logf("%d B for each rank that nobody has talked to", per)
	if per > 1200 && !raceEnabled {
		t.Errorf("%d B for each rank that nobody has talked to", per)
	}
	var dials atomic.Uint64
	begun := time.Now()
	run(t, ranks, Config{Devices: "tcp"}, func(ctx context.Context, c *Comm) error {
		var all []Request
		out := []int32{int32(c.Rank())}
		in := make([]int32, c.Size())
		for p := range c.Size() {
			if p != c.Rank() {
				all = append(all, Irecv(c, in[p:p+1], p, 1), Isend(c, out, p, 1))
			}
		}
		if err := WaitAll(ctx, all...); err != nil {
			return err
		}
		for p, v := range in {
			if p != c.Rank() && v != int32(p) {
				return fmt.Errorf("%d from rank %d", v, p)
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		dials.Add(c.World().Info().Counters["device.dials"])
		return nil
	})
	t.Logf("%d ranks: %d pairs, %d dials, %v", ranks, ranks*(ranks-1)/2, dials.Load(), time.Since(begun))
	if n := int(dials.Load()); n < ranks*(ranks-1)/2 || n > ranks*(ranks-1) {
		t.Errorf("%d dials", n)
	}
}

// idleMemory is what each of so many ranks takes before it has talked to anybody, but for
// its receive slots, which are small here.
func idleMemory(t *testing.T, ranks int) int {
	var there, seen sync.WaitGroup
	there.Add(ranks)
	seen.Add(1)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // for what has finalizers, and what pools keep
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, used := heap(), uint64(0)
	run(t, ranks, Config{Devices: "tcp", EagerLimit: 1, Slots: 1}, func(_ context.Context, c *Comm) error {
		there.Done()
		if c.Rank() == 0 {
			there.Wait()
			used = heap()
			seen.Done()
		}
		seen.Wait()
		return nil
	})
	return int(used-min(before, used)) / ranks
}
