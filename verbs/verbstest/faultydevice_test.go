package verbstest_test

import (
	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/sim"
)

// faultyDevice is a simulated device with a fault, or without.
type faultyDevice struct {
	*sim.Device
	fault *fault
}

type faultyCQ struct {
	verbs.CQ
	dev  *faultyDevice
	seen int
	more []verbs.Completion
}

type faultyQP struct {
	verbs.QP
	dev *faultyDevice
	scq *faultyCQ
}

type faultyMR struct{ verbs.MR }

func (faultyMR) Close() error { return nil }

func (d *faultyDevice) woken() bool {
	w := d.Device.Woken()
	if d.fault != nil && d.fault.woken != nil {
		w = d.fault.woken(w)
	}
	return w
}

func (d *faultyDevice) NewCQ(depth int) (verbs.CQ, error) {
	cq, err := d.Device.NewCQ(depth)
	return &faultyCQ{CQ: cq, dev: d}, err
}

func (d *faultyDevice) NewRQ(cfg verbs.RQConfig) (verbs.RQ, error) {
	if d.fault != nil && cfg.Low > 0 {
		cfg.Low += d.fault.low
	}
	return d.Device.NewRQ(cfg)
}

func (d *faultyDevice) NewQP(cfg verbs.QPConfig) (verbs.QP, error) {
	scq, rcq := cfg.SendCQ.(*faultyCQ), cfg.RecvCQ.(*faultyCQ)
	cfg.SendCQ, cfg.RecvCQ = scq.CQ, rcq.CQ
	qp, err := d.Device.NewQP(cfg)
	if err != nil {
		return nil, err
	}
	return &faultyQP{QP: qp, dev: d, scq: scq}, nil
}

func (d *faultyDevice) Register(mem []byte, a verbs.Access) (verbs.MR, error) {
	mr, err := d.Device.Register(mem, a)
	if err == nil && d.fault != nil && d.fault.keepMR {
		mr = faultyMR{mr}
	}
	return mr, err
}

func (q *faultyCQ) Poll(c []verbs.Completion) int {
	if n := copy(c, q.more); n > 0 {
		q.more = q.more[n:]
		return n
	}
	n := q.CQ.Poll(c)
	if f := q.dev.fault; f != nil && f.poll != nil {
		n = len(f.poll(q, c[:n]))
	}
	return n
}

func (q *faultyCQ) Arm(ev verbs.Event) bool {
	again := q.CQ.Arm(ev)
	if f := q.dev.fault; f != nil && f.arm != nil {
		again = f.arm(again)
	}
	return again
}

func (q *faultyQP) PostSend(wrs []verbs.SendWR) (int, error) {
	f := q.dev.fault
	if f == nil {
		return q.QP.PostSend(wrs)
	}
	mine := append([]verbs.SendWR(nil), wrs...)
	if f.post != nil {
		f.post(mine)
	}
	n, err := q.QP.PostSend(mine)
	if f.posted != nil {
		n, err = f.posted(mine, n, err)
	}
	return n, err
}

func (q *faultyQP) Abort(id uint64) {
	if f := q.dev.fault; f == nil || !f.abort {
		q.QP.Abort(id)
		return
	}
	q.scq.more = append(q.scq.more, verbs.Completion{ID: id, QP: q.Num(), Op: verbs.OpRead, Status: verbs.StatusAborted})
}
