//go:build ibv && cgo && linux

package ibv

/*
#cgo LDFLAGS: -libverbs
#cgo noescape vrb_poll
#cgo nocallback vrb_poll
#cgo noescape vrb_post_send
#cgo nocallback vrb_post_send
#cgo noescape vrb_post_slots
#cgo nocallback vrb_post_slots
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"net/netip"
	"syscall"
	"unsafe"
)

// Every crossing into C is here. Handles are used by their owners alone; the
// library itself may be called from any thread.
type (
	cqHandle   = *C.struct_ibv_cq
	chanHandle = *C.struct_ibv_comp_channel
	qpHandle   = *C.struct_ibv_qp
	srqHandle  = *C.struct_ibv_srq
	mrHandle   = *C.struct_ibv_mr

	sendWR = C.struct_vrb_send
	rawWC  = C.struct_vrb_wc
)

const batch = C.VRB_BATCH

// adapter is one opened port with its protection domain.
type adapter struct {
	ctx  *C.struct_ibv_context
	pd   *C.struct_ibv_pd
	port C.uint8_t
	caps C.struct_vrb_caps
}

func failed(call string, err error) error {
	return fmt.Errorf("verbs/ibv: %s: %w", call, err)
}

func result(call string, rc C.int) error {
	if rc != 0 {
		return failed(call, syscall.Errno(rc))
	}
	return nil
}

func openAdapter(cfg Config) (*adapter, error) {
	name := C.CString(cfg.Name)
	defer C.free(unsafe.Pointer(name))
	ctx, err := C.vrb_open(name)
	if ctx == nil {
		return nil, failed("open "+cfg.Name, err)
	}
	a := &adapter{ctx: ctx, port: C.uint8_t(cfg.port())}
	var want *C.uint8_t
	if cfg.GID.IsValid() {
		g := cfg.GID.As16()
		want = (*C.uint8_t)(C.CBytes(g[:]))
		defer C.free(unsafe.Pointer(want))
	}
	if err := result("query port", C.vrb_query(ctx, a.port, want, &a.caps)); err != nil {
		C.ibv_close_device(ctx)
		return nil, err
	}
	if a.pd, err = C.ibv_alloc_pd(ctx); a.pd == nil {
		C.ibv_close_device(ctx)
		return nil, failed("allocate protection domain", err)
	}
	return a, nil
}

func (a *adapter) close() error {
	err := result("free protection domain", C.ibv_dealloc_pd(a.pd))
	if e := result("close device", C.ibv_close_device(a.ctx)); err == nil {
		err = e
	}
	return err
}

func (a *adapter) asyncFD() int { return int(a.ctx.async_fd) }

func (a *adapter) gid() (g [16]byte) {
	for i, b := range a.caps.gid {
		g[i] = byte(b)
	}
	return g
}

func (a *adapter) addr() netip.Addr { return netip.AddrFrom16(a.gid()).Unmap() }

// register makes memory that must stay where it is known to the adapter.
func (a *adapter) register(mem []byte, local, remote bool) (mrHandle, error) {
	access := 0
	if local {
		access |= C.IBV_ACCESS_LOCAL_WRITE
	}
	if remote {
		access |= C.IBV_ACCESS_REMOTE_READ
	}
	h, err := C.vrb_reg(a.pd, C.uint64_t(addrOf(mem)), C.uint64_t(len(mem)), C.int(access))
	if h == nil {
		return nil, failed("register memory", err)
	}
	return h, nil
}

func deregister(h mrHandle) error { return result("deregister memory", C.ibv_dereg_mr(h)) }

func lkey(h mrHandle) uint32 { return uint32(h.lkey) }
func rkey(h mrHandle) uint32 { return uint32(h.rkey) }

// addrOf is the address of mem as a number: who hands it to the adapter keeps
// the memory alive and unmoved.
func addrOf(mem []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) }

func (a *adapter) newCQ(depth int) (cqHandle, chanHandle, error) {
	ch, err := C.vrb_channel(a.ctx)
	if ch == nil {
		return nil, nil, failed("create completion channel", err)
	}
	h, err := C.vrb_cq(a.ctx, ch, C.int(depth))
	if h == nil {
		C.ibv_destroy_comp_channel(ch)
		return nil, nil, failed("create completion queue", err)
	}
	return h, ch, nil
}

func closeCQ(h cqHandle, ch chanHandle) error {
	takeEvents(ch)
	err := result("destroy completion queue", C.ibv_destroy_cq(h))
	if e := result("destroy completion channel", C.ibv_destroy_comp_channel(ch)); err == nil {
		err = e
	}
	return err
}

func resizeCQ(h cqHandle, depth int) error {
	return result("resize completion queue", C.ibv_resize_cq(h, C.int(depth)))
}

func cqLen(h cqHandle) int     { return int(h.cqe) }
func chanFD(ch chanHandle) int { return int(ch.fd) }
func takeEvents(ch chanHandle) { C.vrb_events(ch) }
func poll(h cqHandle, wc *[batch]rawWC) int {
	return int(C.vrb_poll(h, &wc[0]))
}

func armCQ(h cqHandle, solicited bool) {
	only := C.int(0)
	if solicited {
		only = 1
	}
	C.vrb_arm(h, only)
}

func (a *adapter) newSRQ(slots int) (srqHandle, error) {
	h, err := C.vrb_srq(a.pd, C.int(slots))
	if h == nil {
		return nil, failed("create shared receive queue", err)
	}
	return h, nil
}

func closeSRQ(h srqHandle) error { return result("destroy shared receive queue", C.ibv_destroy_srq(h)) }

func limitSRQ(h srqHandle, low int) error {
	return result("set limit of shared receive queue", C.vrb_srq_limit(h, C.int(low)))
}

func srqID(h srqHandle) uint64 { return uint64(uintptr(unsafe.Pointer(h))) }

func postSlots(srq srqHandle, qp qpHandle, slots []int32, tag, base uint64, stride, size int, key uint32) error {
	if len(slots) == 0 {
		return nil
	}
	return result("post receives", C.vrb_post_slots(srq, qp, (*C.int32_t)(&slots[0]), C.int(len(slots)),
		C.uint64_t(tag), C.uint64_t(base), C.uint64_t(stride), C.uint32_t(size), C.uint32_t(key)))
}

// newQP makes a queue pair in the state INIT and says what inline size it got.
func (a *adapter) newQP(scq, rcq cqHandle, srq srqHandle, depth, slots, inline int) (qpHandle, int, error) {
	n := C.int(inline)
	h, err := C.vrb_qp(a.pd, scq, rcq, srq, C.int(depth), C.int(slots), &n)
	if h == nil {
		return nil, 0, failed("create queue pair", err)
	}
	if err := result("initialise queue pair", C.vrb_init(h, a.port)); err != nil {
		C.ibv_destroy_qp(h)
		return nil, 0, err
	}
	return h, int(n), nil
}

func (a *adapter) readyQP(h qpHandle, p params, psn uint32) error {
	c := C.struct_vrb_peer{
		qp_num: C.uint32_t(p.qpn), psn: C.uint32_t(p.psn), lid: C.uint16_t(p.lid),
		mtu: C.uint8_t(p.mtu), reads: C.uint8_t(p.reads),
	}
	for i, b := range p.gid {
		c.gid[i] = C.uint8_t(b)
	}
	return result("connect queue pair", C.vrb_ready(h, a.port, &a.caps, &c, C.uint32_t(psn)))
}

func failQP(h qpHandle) error  { return result("stop queue pair", C.vrb_fail(h)) }
func closeQP(h qpHandle) error { return result("destroy queue pair", C.ibv_destroy_qp(h)) }
func qpNum(h qpHandle) uint32  { return uint32(h.qp_num) }

// postSend posts wrs in one crossing.
func postSend(h qpHandle, wrs []sendWR) (int, error) {
	var rc C.int
	n := C.vrb_post_send(h, &wrs[0], C.int(len(wrs)), &rc)
	if rc != 0 {
		return int(n), syscall.Errno(rc)
	}
	return int(n), nil
}

type eventKind int32

const (
	evSRQLimit  eventKind = C.IBV_EVENT_SRQ_LIMIT_REACHED
	evSRQError  eventKind = C.IBV_EVENT_SRQ_ERR
	evCQError   eventKind = C.IBV_EVENT_CQ_ERR
	evQPFatal   eventKind = C.IBV_EVENT_QP_FATAL
	evQPRequest eventKind = C.IBV_EVENT_QP_REQ_ERR
	evQPAccess  eventKind = C.IBV_EVENT_QP_ACCESS_ERR
	evQPLast    eventKind = C.IBV_EVENT_QP_LAST_WQE_REACHED
	evMet       eventKind = C.IBV_EVENT_COMM_EST
	evDevice    eventKind = C.IBV_EVENT_DEVICE_FATAL
)

type asyncEvent struct {
	kind eventKind
	qpn  uint32
	srq  uint64
}

// asyncEvent takes one event; false when there is none.
func (a *adapter) asyncEvent() (asyncEvent, bool) {
	var e C.struct_vrb_event
	if C.vrb_async(a.ctx, &e) != 0 {
		return asyncEvent{}, false
	}
	return asyncEvent{eventKind(e._type), uint32(e.qp_num), uint64(e.srq)}, true
}

const (
	opSend    = C.IBV_WR_SEND
	opSendImm = C.IBV_WR_SEND_WITH_IMM
	opRead    = C.IBV_WR_RDMA_READ

	sendSignaled  = C.IBV_SEND_SIGNALED
	sendSolicited = C.IBV_SEND_SOLICITED
	sendInline    = C.IBV_SEND_INLINE

	wcWithImm = C.IBV_WC_WITH_IMM
	wcFlushed = C.IBV_WC_WR_FLUSH_ERR
)

func cu64(v uint64) C.uint64_t { return C.uint64_t(v) }
func cu32(v uint32) C.uint32_t { return C.uint32_t(v) }
