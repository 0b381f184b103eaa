package pmi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Init is the first request.
func (c *Client) Init(ctx context.Context) error {
	m, err := c.Do(ctx, AnswerTimeout, "response_to_init", Msg("init", "pmi_version", "1", "pmi_subversion", "1"))
	if err != nil {
		return err
	}
	if v, ok := m.Get("pmi_version"); ok && v != "1" {
		return &StepError{Rank: c.rank, Step: "init", Err: fmt.Errorf("the launcher speaks PMI version %s, expected 1", Quote(v))}
	}
	return nil
}

// Maxes are the server's limits.
type Maxes struct{ KVSName, Key, Value int }

// GetMaxes asks for them.
func (c *Client) GetMaxes(ctx context.Context) (Maxes, error) {
	m, err := c.Do(ctx, AnswerTimeout, "maxes", Msg("get_maxes"))
	if err != nil {
		return Maxes{}, err
	}
	var x Maxes
	var e1, e2, e3 error
	x.KVSName, e1 = m.Int("kvsname_max")
	x.Key, e2 = m.Int("keylen_max")
	x.Value, e3 = m.Int("vallen_max")
	if err := errors.Join(e1, e2, e3); err != nil {
		return Maxes{}, &StepError{Rank: c.rank, Step: "get_maxes", Err: err}
	}
	return x, nil
}

// KVSName asks for the name of the job's key-value space.
func (c *Client) KVSName(ctx context.Context) (string, error) {
	m, err := c.Do(ctx, AnswerTimeout, "my_kvsname", Msg("get_my_kvsname"))
	if err != nil {
		return "", err
	}
	name, ok := m.Get("kvsname")
	if !ok || name == "" {
		return "", &StepError{Rank: c.rank, Step: "get_my_kvsname", Err: fmt.Errorf("%w: no kvsname in the answer", ErrMalformed)}
	}
	return name, nil
}

// Put stores a value. A key is put once.
func (c *Client) Put(ctx context.Context, kvs, key, value string) error {
	_, err := c.Do(ctx, AnswerTimeout, "put_result", Msg("put", "kvsname", kvs, "key", key, "value", value))
	return err
}

// Get reads a value that was put before the last barrier.
func (c *Client) Get(ctx context.Context, kvs, key string) (string, error) {
	m, err := c.Do(ctx, AnswerTimeout, "get_result", Msg("get", "kvsname", kvs, "key", key))
	if err != nil {
		return "", fmt.Errorf("key %s: %w", key, err)
	}
	v, ok := m.Get("value")
	if !ok {
		return "", &StepError{Rank: c.rank, Step: "get", Err: fmt.Errorf("%w: no value for key %s", ErrMalformed, key)}
	}
	return v, nil
}

// batch is how many gets are sent at once. Their answers fit a socket's buffer.
const batch = 64

// GetMany reads several values, with several requests outstanding if the server is
// Ours.
func (c *Client) GetMany(ctx context.Context, kvs string, keys []string) ([]string, error) {
	values := make([]string, 0, len(keys))
	if !c.Ours {
		for _, key := range keys {
			v, err := c.Get(ctx, kvs, key)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		return values, nil
	}
	for part := range slices.Chunk(keys, batch) {
		reqs := make([]Message, len(part))
		for i, key := range part {
			reqs[i] = Msg("get", "kvsname", kvs, "key", key)
		}
		answers, err := c.do(ctx, AnswerTimeout, "get_result", reqs...)
		for i, m := range answers {
			v, ok := m.Get("value")
			if err := refused(m); err != nil {
				return nil, fmt.Errorf("key %s: %w", part[i], &StepError{Rank: c.rank, Step: "get", Err: err})
			}
			if !ok {
				return nil, &StepError{Rank: c.rank, Step: "get", Err: fmt.Errorf("%w: no value for key %s", ErrMalformed, part[i])}
			}
			values = append(values, v)
		}
		if err != nil {
			return nil, &StepError{Rank: c.rank, Step: "get", Err: err}
		}
	}
	return values, nil
}

// Barrier waits until every rank of the job has called it. A server of ours is told
// to answer a little before the time is over, and says who is missing.
func (c *Client) Barrier(ctx context.Context) error {
	m := Msg("barrier_in")
	if c.Ours {
		limit := BarrierTimeout
		if d, ok := ctx.Deadline(); ok {
			limit = min(limit, time.Until(d))
		}
		if within := (limit - limit/16).Milliseconds(); within > 0 {
			m.Fields = append(m.Fields, Field{"within", strconv.FormatInt(within, 10)})
		}
	}
	_, err := c.Do(ctx, BarrierTimeout, "barrier_out", m)
	return err
}

// Finalize is the last request.
func (c *Client) Finalize(ctx context.Context) error {
	_, err := c.Do(ctx, AnswerTimeout, "finalize_ack", Msg("finalize"))
	return err
}
