//go:build ibv && cgo && linux

package ibv

import (
	"context"
	"crypto/rand"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// device is one port of an adapter. What isn't guarded by mu is the caller's.
type device struct {
	cfg     Config
	id      deviceID
	adapter *adapter
	attr    verbs.Attr
	addr    []byte
	closed  bool

	cqs     []*compQueue
	rqs     []*recvQueue // by the index in wr_id
	qps     []*queuePair // by the index in wr_id; nil: free
	reap    []*queuePair // closed, with completions to come
	regions []*region    // by address
	recent  *region      // the last that localKey found

	half  atomic.Int32 // queue pairs that wait for the other end's word
	count counters

	ctx    context.Context // of the exchange
	cancel context.CancelFunc
	work   sync.WaitGroup
	listen net.Listener
	async  *async

	mu     sync.Mutex
	ending bool
	ends   map[endKey]*queuePair
	byNum  map[uint32]*queuePair
	bySRQ  map[uint64]*recvQueue
	early  map[endKey]early
	dialed map[deviceID]*link
	links  map[*link]struct{}
}

type counters struct{ inlineRetries, limits, lasts atomic.Uint64 }

// Open opens an adapter.
func Open(cfg Config) (verbs.Device, error) {
	a, err := openAdapter(cfg)
	if err != nil {
		return nil, err
	}
	d := &device{
		cfg: cfg, adapter: a,
		ends: map[endKey]*queuePair{}, byNum: map[uint32]*queuePair{}, bySRQ: map[uint64]*recvQueue{},
		early: map[endKey]early{}, dialed: map[deviceID]*link{}, links: map[*link]struct{}{},
	}
	_, _ = rand.Read(d.id[:])
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.attr = verbs.Attr{Name: "ibv", MaxSend: int(a.caps.max_msg), MaxRead: int64(a.caps.max_msg), Registration: true}
	if d.attr.MaxInline, err = d.probeInline(); err == nil {
		err = d.startExchange()
	}
	if err != nil {
		d.cancel()
		a.close()
		return nil, err
	}
	return d, nil
}

func (c Config) patience() time.Duration {
	if c.Patience == 0 {
		return 5 * time.Second
	}
	return c.Patience
}

func (c Config) port() uint8 {
	if c.Port == 0 {
		return 1
	}
	return uint8(c.Port)
}

// probeInline makes a queue pair to see what an adapter grants.
func (d *device) probeInline() (int, error) {
	cq := &compQueue{}
	var err error
	if cq.h, cq.ch, err = d.adapter.newCQ(1); err != nil {
		return 0, err
	}
	defer closeCQ(cq.h, cq.ch)
	qp, inline, err := d.inlineQP(cq, cq, nil, 1, 1, 1024)
	if err != nil {
		return 0, err
	}
	return inline, closeQP(qp)
}

func (d *device) Attr() verbs.Attr { return d.attr }
func (d *device) Addr() []byte     { return d.addr }

// WakeFDs are two for each completion queue: the adapter's events, and those of
// the device's goroutines.
func (d *device) WakeFDs() []int {
	var fds []int
	for _, q := range d.cqs {
		fds = append(fds, chanFD(q.ch), q.wake)
	}
	return fds
}

func (d *device) addQP(q *queuePair) {
	if q.index = slices.Index(d.qps, nil); q.index < 0 {
		q.index = len(d.qps)
		d.qps = append(d.qps, nil)
	}
	d.qps[q.index] = q
	d.mu.Lock()
	d.byNum[q.num] = q
	d.mu.Unlock()
}

// forget hides a closed queue pair from the exchange.
func (d *device) forget(q *queuePair) {
	d.mu.Lock()
	delete(d.byNum, q.num)
	if d.ends[q.key] == q {
		delete(d.ends, q.key)
	}
	d.mu.Unlock()
	q.mu.Lock()
	links := q.links
	q.mu.Unlock()
	for _, l := range links {
		l.drop(q)
	}
}

func (d *device) dropCQ(q *compQueue) {
	if i := slices.Index(d.cqs, q); i >= 0 {
		d.cqs = slices.Delete(d.cqs, i, i+1)
	}
}

// reapPolled ends the closed queue pairs of which nothing is left in cq, which has
// just been found empty, nor in their other queue.
func (d *device) reapPolled(cq *compQueue) {
	if len(d.reap) == 0 {
		return
	}
	d.reap = slices.DeleteFunc(d.reap, func(q *queuePair) bool {
		q.sPolled = q.sPolled || q.scq == cq && q.head == q.tail
		q.rPolled = q.rPolled || q.rcq == cq
		if !q.sPolled || !q.rPolled {
			return false
		}
		_ = q.destroy()
		q.scq.need -= q.depth
		d.qps[q.index] = nil
		return true
	})
}

// Close tells the peers, and takes everything down.
func (d *device) Close() error {
	if d.closed {
		return verbs.ErrClosed
	}
	d.closed = true
	d.stopExchange()
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, q := range d.qps {
		if q != nil {
			q.state.Store(uint32(closed))
			keep(q.destroy())
		}
	}
	for _, q := range d.rqs {
		keep(q.close())
	}
	for _, q := range slices.Clone(d.cqs) {
		keep(q.Close())
	}
	for _, r := range slices.Clone(d.regions) {
		keep(r.Close())
	}
	keep(d.adapter.close())
	return first
}

// Counters implements verbs.Counted.
func (d *device) Counters(yield func(string, uint64) bool) {
	_ = yield("inline_retries", d.count.inlineRetries.Load()) &&
		yield("srq_limit_events", d.count.limits.Load()) &&
		yield("last_wqe_events", d.count.lasts.Load())
}
