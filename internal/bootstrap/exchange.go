package bootstrap

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// A value travels as base64 in chunks, each under a key of its own:
//
//	v<epoch>.<rank>.<key>.<chunk>
//
// Chunk 0 starts with the value's length in bytes and a colon. The epoch makes
// each key new: PMI keys are put once.
const (
	maxKey   = 64
	minValue = 64
	maxName  = 24
	// MaxExchange is the most that one rank may give to Exchange.
	MaxExchange = 1 << 20
)

// Exchange gives value to all and returns everybody's, by rank. Collective:
// every rank calls it, in the same order and with the same key, which is 1 to
// 24 letters, digits, '-' or '_' and serves to find ranks that disagree.
func (j *Job) Exchange(ctx context.Context, key string, value []byte) ([][]byte, error) {
	if j.closed {
		return nil, ErrClosed
	}
	if err := checkExchange(key, value); err != nil {
		return nil, fmt.Errorf("bootstrap: rank %d: exchange: %w", j.Rank, err)
	}
	if j.local != nil {
		j.epoch++
		return j.local.exchange(ctx, j.Rank, j.epoch-1, value)
	}
	if j.client == nil {
		return [][]byte{append([]byte{}, value...)}, ctx.Err()
	}
	epoch := j.epoch
	j.epoch++
	for i, chunk := range encode(value, j.value) {
		if err := j.client.Put(ctx, j.Name, wireKey(epoch, j.Rank, key, i), chunk); err != nil {
			return nil, fmt.Errorf("bootstrap: exchange %q: %w", key, j.explain(err))
		}
	}
	if err := j.client.Barrier(ctx); err != nil {
		return nil, fmt.Errorf("bootstrap: exchange %q: %w", key, j.explain(err))
	}
	all, err := j.collect(ctx, epoch, key)
	if err != nil {
		return nil, fmt.Errorf("bootstrap: exchange %q: %w", key, j.explain(err))
	}
	return all, nil
}

func checkExchange(key string, value []byte) error {
	if len(key) < 1 || len(key) > maxName {
		return fmt.Errorf("key %q has %d bytes, expected 1 to %d", key, len(key), maxName)
	}
	for _, c := range []byte(key) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return fmt.Errorf("key %q: only letters, digits, '-' and '_'", key)
		}
	}
	if len(value) > MaxExchange {
		return fmt.Errorf("a value of %d bytes, expected at most %d", len(value), MaxExchange)
	}
	return nil
}

// collect gets everybody's value: the first chunks, which say how long each
// is, and then all the others.
func (j *Job) collect(ctx context.Context, epoch int, key string) ([][]byte, error) {
	keys := make([]string, j.Size)
	for r := range keys {
		keys[r] = wireKey(epoch, r, key, 0)
	}
	texts, err := j.client.GetMany(ctx, j.Name, keys)
	if err != nil {
		return nil, err
	}
	sizes := make([]int, j.Size)
	var whose []int // of the further chunks
	keys = keys[:0]
	for r, first := range texts {
		if sizes[r], texts[r], err = header(first); err != nil {
			return nil, fmt.Errorf("the value of rank %d: %w", r, err)
		}
		head := len(first) - len(texts[r])
		for i := 1; i*j.value < head+base64.RawURLEncoding.EncodedLen(sizes[r]); i++ {
			keys, whose = append(keys, wireKey(epoch, r, key, i)), append(whose, r)
		}
	}
	more, err := j.client.GetMany(ctx, j.Name, keys)
	if err != nil {
		return nil, err
	}
	parts := make([]strings.Builder, j.Size)
	for i, s := range more {
		parts[whose[i]].WriteString(s)
	}
	all := make([][]byte, j.Size)
	for r := range all {
		if all[r], err = decode(texts[r]+parts[r].String(), sizes[r]); err != nil {
			return nil, fmt.Errorf("the value of rank %d: %w", r, err)
		}
	}
	return all, nil
}

func wireKey(epoch, rank int, key string, chunk int) string {
	return "v" + strconv.Itoa(epoch) + "." + strconv.Itoa(rank) + "." + key + "." + strconv.Itoa(chunk)
}

// encode cuts a value into chunks of at most most bytes.
func encode(value []byte, most int) []string {
	s := strconv.Itoa(len(value)) + ":" + base64.RawURLEncoding.EncodeToString(value)
	var chunks []string
	for len(s) > most {
		chunks = append(chunks, s[:most])
		s = s[most:]
	}
	return append(chunks, s)
}

// header splits chunk 0.
func header(s string) (size int, text string, err error) {
	n, text, ok := strings.Cut(s, ":")
	size, err = strconv.Atoi(n)
	if !ok || err != nil || size < 0 || size > MaxExchange {
		return 0, "", fmt.Errorf("%.40q doesn't start with a length: not a rank of this program, or another version of it", s)
	}
	return size, text, nil
}

func decode(s string, size int) ([]byte, error) {
	v, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, err
	}
	if len(v) != size {
		return nil, fmt.Errorf("%d bytes arrived, expected %d", len(v), size)
	}
	return v, nil
}
