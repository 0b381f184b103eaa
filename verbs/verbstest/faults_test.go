package verbstest_test

import (
	"errors"

	"github.com/verbena-mpi/verbena/verbs"
)

// fault is a way in which a device can be wrong.
type fault struct {
	what  string
	found map[string]string // test: what it says

	// poll changes the completions that a Poll gives, and may hold some back.
	poll func(q *faultyCQ, c []verbs.Completion) []verbs.Completion
	// post changes the requests.
	post func(wrs []verbs.SendWR)
	// posted changes the answer of PostSend.
	posted func(wrs []verbs.SendWR, n int, err error) (int, error)
	woken  func(bool) bool
	arm    func(again bool) bool
	abort  bool // reports an aborted read at once, and lets it go on
	keepMR bool // MR.Close does nothing
	low    int  // is added to RQConfig.Low
}

// everyNth calls fn on each n-th completion of an operation.
func everyNth(op verbs.Op, n int, fn func(c *verbs.Completion)) func(*faultyCQ, []verbs.Completion) []verbs.Completion {
	return func(q *faultyCQ, c []verbs.Completion) []verbs.Completion {
		for i := range c {
			if c[i].Op == op {
				if q.seen++; q.seen%n == 0 {
					fn(&c[i])
				}
			}
		}
		return c
	}
}

// drop leaves out the completions that bad says.
func drop(bad func(q *faultyCQ, c *verbs.Completion) bool) func(*faultyCQ, []verbs.Completion) []verbs.Completion {
	return func(q *faultyCQ, c []verbs.Completion) []verbs.Completion {
		out := c[:0]
		for i := range c {
			if !bad(q, &c[i]) {
				out = append(out, c[i])
			}
		}
		return out
	}
}

var faults = map[string]*fault{
	"loses": {
		what:  "loses a message",
		found: map[string]string{"OrderMixed": "message 4"},
		poll: drop(func(q *faultyCQ, c *verbs.Completion) bool {
			if c.Op != verbs.OpRecv {
				return false
			}
			q.seen++
			return q.seen == 5
		}),
	},
	"flips": {
		what:  "changes a byte of a message",
		found: map[string]string{"OrderSlot": "bytes are wrong", "EverySmallSize": "bytes are wrong"},
		poll: everyNth(verbs.OpRecv, 50, func(c *verbs.Completion) {
			if len(c.Data) > 0 {
				c.Data[len(c.Data)-1] ^= 1
			}
		}),
	},
	"cuts": {
		what:  "cuts messages",
		found: map[string]string{"LargestMessage": "bytes, want"},
		poll: everyNth(verbs.OpRecv, 3, func(c *verbs.Completion) {
			c.Data = c.Data[:len(c.Data)/2]
			c.Len = uint32(len(c.Data))
		}),
	},
	"imm": {
		what:  "forgets immediates",
		found: map[string]string{"Immediate": "immediate 0x"},
		poll:  everyNth(verbs.OpRecv, 1, func(c *verbs.Completion) { c.Imm = 0 }),
	},
	"crooked": {
		what:  "lends views that are not aligned",
		found: map[string]string{"OrderSlot": "not 8-aligned"},
		poll: everyNth(verbs.OpRecv, 1, func(c *verbs.Completion) {
			buf := make([]byte, len(c.Data)+9)
			c.Data = buf[1 : 1+copy(buf[1:], c.Data)]
		}),
	},
	"talks": {
		what:  "signals every send",
		found: map[string]string{"Unsignaled": "not signaled"},
		post: func(wrs []verbs.SendWR) {
			for i := range wrs {
				wrs[i].Flags |= verbs.Signaled
			}
		},
	},
	"late": {
		what:  "reads inline memory after PostSend",
		found: map[string]string{"OrderInline": "bytes are wrong"},
		post: func(wrs []verbs.SendWR) {
			for i := range wrs {
				wrs[i].Flags &^= verbs.Inline
			}
		},
	},
	"lenient": {
		what:  "takes more inline bytes than it granted",
		found: map[string]string{"InlineGranted": "want ErrInline"},
		posted: func(wrs []verbs.SendWR, n int, err error) (int, error) {
			if errors.Is(err, verbs.ErrInline) {
				return len(wrs), nil
			}
			return n, err
		},
	},
	"greedy": {
		what:  "takes what it says that it didn't take",
		found: map[string]string{"OrderMixed": "lost, doubled or out of order"},
		posted: func(wrs []verbs.SendWR, n int, err error) (int, error) {
			if err == nil && n > 1 {
				return n - 1, verbs.ErrFull
			}
			return n, err
		},
	},
	"deaf": {
		what:  "never wakes",
		found: map[string]string{"ArmAny": "nothing wakes it", "FullEvent": "nothing wakes it", "ArmClosed": "nothing wakes it"},
		woken: func(bool) bool { return false },
	},
	"restless": {
		what:  "is always awake",
		found: map[string]string{"ArmAny": "forever"},
		woken: func(bool) bool { return true },
	},
	"forgets": {
		what:  "doesn't say what was missed",
		found: map[string]string{"ArmMissed": "nothing wakes it"},
		arm:   func(bool) bool { return false },
	},
	"clings": {
		what:  "writes after an abort",
		found: map[string]string{"AbortRead": "bytes were written after"},
		abort: true,
	},
	"leaks": {
		what:   "lets peers read closed registrations",
		found:  map[string]string{"MRCloseDuringRead": "is 0xee", "ReadClosedMR": "want remote access error"},
		keepMR: true,
	},
	"low": {
		what:  "has its watermark one too high",
		found: map[string]string{"LowWatermark": "as many posted as the mark"},
		low:   1,
	},
	"unflushed": {
		what:  "doesn't report what it flushes",
		found: map[string]string{"CloseFlushes": "the flush of what was posted", "PeerCloseFlushes": "the end of every posted request"},
		poll:  drop(func(_ *faultyCQ, c *verbs.Completion) bool { return c.Status == verbs.StatusFlushed }),
	},
	"mute": {
		what:  "doesn't say that the peer is gone",
		found: map[string]string{"ClosedAfterAll": "OpClosed", "ConnectNoLabel": "the refusal"},
		poll:  drop(func(_ *faultyCQ, c *verbs.Completion) bool { return c.Op == verbs.OpClosed }),
	},
}
