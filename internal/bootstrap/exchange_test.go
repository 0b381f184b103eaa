package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/verbena-mpi/verbena/internal/pmi"
)

type noEvents struct{}

func (noEvents) Abort(int, int, string) {}
func (noEvents) Stuck(int, int)         {}

// ranks joins a job of size ranks in this process and runs f as each.
func ranks(t *testing.T, size int, f func(context.Context, *Job) error) error {
	t.Helper()
	return ranksUnder(t, "verbrun-test", size, f)
}

// ranksUnder is ranks with a launcher of another name.
func ranksUnder(t *testing.T, launcher string, size int, f func(context.Context, *Job) error) error {
	t.Helper()
	s := pmi.NewServer(launcher, size, noEvents{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var serving, g errgroup.Group
	for r := range size {
		ours, theirs := net.Pipe()
		serving.Go(func() error { return s.Serve(r, theirs) })
		g.Go(func() error {
			defer func() { _ = ours.Close() }()
			j, err := join(ctx, r, size, ours)
			if err != nil {
				return err
			}
			if err := f(ctx, j); err != nil {
				return err
			}
			return errors.Join(j.Close(ctx), j.Close(ctx))
		})
	}
	return errors.Join(g.Wait(), serving.Wait())
}

// value is rank r's of the i-th exchange.
func value(i, r int) []byte {
	sizes := []int{0, 1, 2, 3, 673, 674, 675, 676, 1350, 5000}
	b := make([]byte, sizes[(i+r)%len(sizes)])
	for k := range b {
		b[k] = byte(k*7 + i + r*31)
	}
	return b
}

func TestExchange(t *testing.T) {
	for i, size := range []int{1, 2, 8, 8, 70} {
		launcher := []string{"verbrun-test", "kvs_0"}[i%2] // several requests at a time, or one
		err := ranksUnder(t, launcher, size, func(ctx context.Context, j *Job) error {
			for i := range max(2, 20/size) {
				all, err := j.Exchange(ctx, "addr", value(i, j.Rank))
				if err != nil {
					return err
				}
				if len(all) != size {
					return fmt.Errorf("%d values of %d ranks", len(all), size)
				}
				for r, v := range all {
					if !bytes.Equal(v, value(i, r)) {
						return fmt.Errorf("exchange %d, rank %d: %d bytes, expected %d", i, r, len(v), len(value(i, r)))
					}
				}
			}
			return j.Barrier(ctx)
		})
		if err != nil {
			t.Errorf("%d ranks: %v", size, err)
		}
	}
}

func TestExchangeMost(t *testing.T) {
	big := bytes.Repeat([]byte{0, 255, '\n', ' ', '='}, MaxExchange/5)
	err := ranks(t, 2, func(ctx context.Context, j *Job) error {
		all, err := j.Exchange(ctx, "big", big[j.Rank:])
		if err != nil {
			return err
		}
		if !bytes.Equal(all[0], big) || !bytes.Equal(all[1], big[1:]) {
			return errors.New("a large value was changed on the way")
		}
		if _, err := j.Exchange(ctx, "big", make([]byte, MaxExchange+1)); err == nil {
			return errors.New("a value that is too large was taken")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A rank that doesn't come: our server names it, and about others it is said that they
// don't.
func TestExchangeMissing(t *testing.T) {
	for launcher, want := range map[string]string{
		"verbrun-test": "rank 2 has not come to the barrier within", "kvs_0": "another rank may have ended or not come, and this launcher doesn't say which",
	} {
		done := make(chan struct{})
		var left sync.WaitGroup
		left.Add(2)
		go func() {
			left.Wait()
			close(done)
		}()
		_ = ranksUnder(t, launcher, 3, func(ctx context.Context, j *Job) error {
			if j.Rank == 2 {
				<-done
				return nil
			}
			defer left.Done()
			ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			defer cancel()
			if _, err := j.Exchange(ctx, "card", nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: rank %d: %v; expected %q", launcher, j.Rank, err, want)
			}
			return nil
		})
	}
}

// Ranks that exchange different things are told so.
func TestExchangeDisagree(t *testing.T) {
	err := ranks(t, 2, func(ctx context.Context, j *Job) error {
		_, err := j.Exchange(ctx, fmt.Sprint("key", j.Rank), nil)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`exchange "key%d": key v0.%d.key%d.0: pmi: rank %d: get: refused`, j.Rank, 1-j.Rank, j.Rank, j.Rank)) {
			return fmt.Errorf("rank %d: %w", j.Rank, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestExchangeKeys(t *testing.T) {
	for _, key := range []string{"", "a b", "a=b", "a;b", "ä", strings.Repeat("k", 25)} {
		if _, err := alone().Exchange(t.Context(), key, nil); err == nil {
			t.Errorf("key %q was taken", key)
		}
	}
	// The longest wire key fits what servers announce.
	if k := wireKey(99_999_999, 9_999_999, strings.Repeat("k", maxName), 99_999); len(k) > maxKey-1 {
		t.Errorf("%s has %d bytes", k, len(k))
	}
}

func TestAlone(t *testing.T) {
	j, ctx := alone(), t.Context()
	in := []byte("x")
	all, err := j.Exchange(ctx, "k", in)
	if err != nil || len(all) != 1 || string(all[0]) != "x" || &all[0][0] == &in[0] {
		t.Error(all, err)
	}
	var said bytes.Buffer
	j.stderr = &said
	j.Abort(3, "why not")
	if got := said.String(); got != "rank 0: abort with status 3: why not\n" {
		t.Errorf("%q", got)
	}
	if err := errors.Join(j.Barrier(ctx), j.Close(ctx), j.Close(ctx)); err != nil {
		t.Error(err)
	}
	if _, err := j.Exchange(ctx, "k", nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := j.Barrier(ctx); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// Chunks stay below the limit and come together again.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Byte(), 0, 4000).Draw(t, "value")
		most := rapid.IntRange(minValue, pmi.SafeValue).Draw(t, "most")
		chunks := encode(v, most)
		for i, c := range chunks {
			if len(c) > most || c == "" || strings.ContainsAny(c, " ;=\n") {
				t.Fatalf("chunk %d: %q", i, c)
			}
		}
		size, text, err := header(chunks[0])
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(text+strings.Join(chunks[1:], ""), size)
		if err != nil || !bytes.Equal(got, v) {
			t.Fatalf("%q, %v", got, err)
		}
	})
}

// A launcher that gives nonsense back is an error.
func FuzzDecode(f *testing.F) {
	f.Add("3:AAAA")
	f.Add("0:")
	f.Add("-1:")
	f.Add("99999999:A")
	f.Fuzz(func(t *testing.T, s string) {
		size, text, err := header(s)
		if err != nil {
			return
		}
		if v, err := decode(text, size); err == nil && len(v) != size {
			t.Fatalf("%d bytes, said %d", len(v), size)
		}
	})
}
