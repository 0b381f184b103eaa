package comm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// collectors are the calls that end requests of a list, each as a function that
// ends some, calls got for each, and says false when none is active.
var collectors = map[string]func(context.Context, []Request, func(int, error)) (bool, error){
	"WaitAny": func(ctx context.Context, list []Request, got func(int, error)) (bool, error) {
		i, s, err := WaitAny(ctx, list)
		if i < 0 {
			return false, err
		}
		got(i, checkStatus(i, s, err))
		return true, nil
	},
	"TestAny": func(_ context.Context, list []Request, got func(int, error)) (bool, error) {
		i, s, done, err := TestAny(list)
		if done && i >= 0 {
			got(i, checkStatus(i, s, err))
		}
		runtime.Gosched()
		return !done || i >= 0, nil
	},
	"WaitSome": func(ctx context.Context, list []Request, got func(int, error)) (bool, error) {
		at := make([]int, 3)
		n, err := WaitSome(ctx, list, at)
		for k := range n {
			got(at[k], nil)
		}
		if n == 0 {
			return false, errors.Join(err, errors.New("WaitSome has ended none"))
		}
		return n > 0, err
	},
	"TestSome": func(_ context.Context, list []Request, got func(int, error)) (bool, error) {
		at := make([]int, len(list))
		n, err := TestSome(list, at)
		runtime.Gosched()
		for k := range n {
			got(at[k], nil)
		}
		return n >= 0, err
	},
	"Completed": func(ctx context.Context, list []Request, got func(int, error)) (bool, error) {
		for i, r := range Completed(ctx, list) {
			if i < 0 {
				return false, r.Err
			}
			got(i, checkStatus(i, r.Status, r.Err))
		}
		return false, nil
	},
}

// checkStatus checks that what the request at an index got has its tag.
func checkStatus(i int, s Status, err error) error {
	if err == nil && s != (Status{}) && s.Tag != i {
		err = fmt.Errorf("request %d: %+v", i, s)
	}
	return err
}

// Rule 11: whatever a list is made of - zero requests, sends that are over at once, small
// and large ones, receives - each call ends each active one once.
func TestLists(t *testing.T) {
	for name, collect := range collectors {
		t.Run(name, func(t *testing.T) {
			eachConfig(t, func(t *testing.T, cfg Config) {
				run(t, 2, cfg, func(ctx context.Context, c *Comm) error {
					other := 1 - c.Rank()
					for round := range 8 {
						var list []Request
						active := map[int]bool{}
						for i := range 24 {
							n := []int{8, 300, 60_000}[(round+i)%3]
							switch (i + c.Rank()) % 2 {
							case 0:
								list = append(list, Irecv(c, make([]byte, n), other, i))
							case 1:
								list = append(list, Isend(c, make([]byte, n), other, i))
							}
							active[i] = true
						}
						list = append(list, Request{}, Isend(c, []byte{1}, ProcNull, 0))
						active[25] = true
						var errs []error
						for more := true; more; {
							var err error
							more, err = collect(ctx, list, func(i int, err error) {
								if !active[i] {
									err = errors.Join(err, fmt.Errorf("request %d came again", i))
								}
								if list[i] != (Request{}) {
									err = errors.Join(err, fmt.Errorf("entry %d was not cleared", i))
								}
								delete(active, i)
								errs = append(errs, err)
							})
							if err != nil {
								return err
							}
						}
						if len(active) > 0 {
							return fmt.Errorf("round %d: %v were not ended", round, active)
						}
						if err := errors.Join(errs...); err != nil {
							return err
						}
					}
					return nil
				})
			})
		})
	}
}

// The status of what has failed is the zero one, not that of an earlier message.
func TestFailedStatus(t *testing.T) {
	run(t, 2, Config{}, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 1 {
			return SendOne(ctx, c, byte(1), 0, 5)
		}
		buf := []byte{0}
		if s, err := Recv(ctx, c, buf, 1, 5); err != nil || (s != Status{1, 5, 1}) {
			return fmt.Errorf("%+v, %w", s, err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		for name, receive := range map[string]func() (Status, error){
			"Irecv":      func() (Status, error) { return Irecv(c, buf, 9, 7).Wait(ctx) },
			"Recv":       func() (Status, error) { return Recv(ended, c, buf, 1, 7) },
			"Probe":      func() (Status, error) { return c.Probe(ended, 1, 7) },
			"RecvAppend": func() (Status, error) { _, s, err := RecvAppend(ended, c, buf, 1, 7); return s, err },
			"Sendrecv":   func() (Status, error) { return Sendrecv(ended, c, buf, 0, 1, buf[:0], 1, 7) },
			"WaitAny":    func() (Status, error) { _, s, err := WaitAny(ctx, []Request{Irecv(c, buf, 9, 7)}); return s, err },
			"Cancel":     func() (Status, error) { r := Irecv(c, buf, 1, 7); r.Cancel(); return r.Wait(ctx) },
		} {
			if s, err := receive(); err == nil || s != (Status{}) {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
		}
		_, err := Recv(ctx, c, buf, 0, 1) // Sendrecv's send was not withdrawn
		return err
	})
}

// Rule 11: a list without active requests answers at once.
func TestEmptyLists(t *testing.T) {
	ctx := t.Context()
	for _, list := range [][]Request{nil, {}, {{}, {}}} {
		if i, s, err := WaitAny(ctx, list); i != -1 || s != (Status{}) || err != nil {
			t.Errorf("WaitAny of %v: %d, %+v, %v", list, i, s, err)
		}
		if i, _, done, err := TestAny(list); i != -1 || !done || err != nil {
			t.Errorf("TestAny of %v: %d, %v, %v", list, i, done, err)
		}
		for _, indices := range [][]int{nil, {5}} {
			if n, err := WaitSome(ctx, list, indices); n != -1 || err != nil {
				t.Errorf("WaitSome of %v: %d, %v", list, n, err)
			}
			if n, err := TestSome(list, indices); n != -1 || err != nil {
				t.Errorf("TestSome of %v: %d, %v", list, n, err)
			}
		}
		if done, err := TestAll(list...); !done || err != nil {
			t.Errorf("TestAll of %v: %v, %v", list, done, err)
		}
		for i, r := range Completed(ctx, list) {
			t.Errorf("Completed of %v: %d, %+v", list, i, r)
		}
	}
}

// Rule 11: a request that was ended through a copy is an error, once, and never a hang.
func TestListsOfEnded(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		for name, collect := range collectors {
			r := Irecv(c, []byte(nil), ProcNull, 0)
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
			list, times := []Request{{}, r}, 0
			var first error
			for more := true; more; {
				var err error
				more, err = collect(ctx, list, func(i int, err error) {
					times++
					first = errors.Join(first, err)
					if i != 1 {
						t.Errorf("%s: index %d", name, i)
					}
				})
				if err != nil {
					first, more = errors.Join(first, err), times < 3
				}
			}
			if !errors.Is(first, ErrDone) || times != 1 {
				t.Errorf("%s: %d times, %v", name, times, first)
			}
		}
		r := Irecv(c, []byte(nil), ProcNull, 0)
		if done, err := TestAll(r, Request{}); !done || err != nil {
			t.Errorf("TestAll: %v, %v", done, err)
		}
		if done, err := TestAll(Request{}, r); !done || !errors.Is(err, ErrDone) {
			t.Errorf("TestAll once more: %v, %v", done, err)
		}
		return nil
	})
}

// Rule 11: while one index is complete at every call, the others have their turn too.
func TestNoIndexStarves(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		list, got := make([]Request, 4), make([]int, 4)
		for name, collect := range map[string]func() (int, error){
			"WaitAny":  func() (int, error) { i, _, err := WaitAny(ctx, list); return i, err },
			"TestAny":  func() (int, error) { i, _, _, err := TestAny(list); return i, err },
			"WaitSome": func() (int, error) { at := []int{-1}; _, err := WaitSome(ctx, list, at); return at[0], err },
			"TestSome": func() (int, error) { at := []int{-1}; _, err := TestSome(list, at); return at[0], err },
		} {
			clear(got)
			for range 400 {
				for i := range list {
					if !list[i].active() {
						list[i] = Irecv(c, []byte(nil), ProcNull, i)
					}
				}
				i, err := collect()
				if err != nil || i < 0 {
					return fmt.Errorf("%s: %d, %w", name, i, err)
				}
				got[i]++
			}
			if slices.Min(got) == 0 {
				t.Errorf("%s: %v", name, got)
			}
		}
		return WaitAll(ctx, list...)
	})
}

// A context that ends, and requests of two worlds, leave all requests active;
// errors say which request they belong to.
func TestListErrors(t *testing.T) {
	run(t, 1, Config{}, func(ctx context.Context, c *Comm) error {
		buf := []byte{0}
		list := []Request{Irecv(c, buf, 0, 0), {}, Irecv(c, buf, 9, 0)}
		var e *Error
		if i, _, err := WaitAny(ctx, list); i != 2 || !errors.Is(err, ErrRank) || !errors.As(err, &e) || e.Op != "Irecv" || e.Peer != 9 {
			t.Errorf("WaitAny: %d, %v", i, err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if i, _, err := WaitAny(ended, list); i != -1 || !errors.Is(err, context.Canceled) || !errors.As(err, &e) || e.Op != "WaitAny" {
			t.Errorf("WaitAny, a context that has ended: %d, %v", i, err)
		}
		if n, err := WaitSome(ended, list, make([]int, 3)); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("WaitSome, a context that has ended: %d, %v", n, err)
		}
		for i, r := range Completed(ended, list) {
			if i != -1 || !errors.Is(r.Err, context.Canceled) {
				t.Errorf("Completed, a context that has ended: %d, %v", i, r)
			}
		}
		if n, err := WaitSome(ctx, list, nil); n != 0 || !errors.Is(err, errNoRoom) {
			t.Errorf("WaitSome without room: %d, %v", n, err)
		}
		if done, err := TestAll(list...); done || err != nil {
			t.Errorf("TestAll: %v, %v", done, err)
		}
		run(t, 1, Config{}, func(ctx context.Context, c2 *Comm) error {
			both := []Request{list[0], Irecv(c2, buf, 0, 0)}
			if i, _, err := WaitAny(ctx, both); i != -1 || !errors.Is(err, errWorlds) {
				t.Errorf("WaitAny of two worlds: %d, %v", i, err)
			}
			if done, err := TestAll(both...); done || !errors.Is(err, errWorlds) {
				t.Errorf("TestAll of two worlds: %v, %v", done, err)
			}
			if err := SendOne(ctx, c2, byte(1), 0, 0); err != nil {
				return err
			}
			_, err := both[1].Wait(ctx)
			return err
		})
		if err := SendOne(ctx, c, byte(4), 0, 0); err != nil {
			return err
		}
		list[1] = Irecv(c, buf, 9, 0)
		at := make([]int, 3)
		if n, err := WaitSome(ctx, list, at); n != 2 || !slices.Equal(at[:n], []int{0, 1}) || !errors.Is(err, ErrRank) || buf[0] != 4 {
			t.Errorf("WaitSome: %d, %v, %v", n, at, err)
		}
		return nil
	})
}
