// What cgo can't do itself: macros, inline functions, chains of requests. Each
// function on a fast path takes a batch, so that a crossing is paid once.
#ifndef VRB_SHIM_H
#define VRB_SHIM_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <infiniband/verbs.h>

enum { VRB_BATCH = 32 };

// vrb_caps are the limits and the address of one port.
struct vrb_caps {
	uint8_t gid[16];
	uint32_t max_msg;
	int32_t max_cqe, max_qp_wr, max_srq_wr;
	int32_t reads_in, reads_out; // RDMA reads served and issued at once, per queue pair
	uint16_t lid;
	uint8_t gid_index, mtu, ethernet;
};

// vrb_send is a send request, flat. Addresses are numbers: the memory is kept
// by the caller.
struct vrb_send {
	uint64_t wr_id, remote;
	uint64_t addr[2];
	uint32_t len[2], lkey[2];
	uint32_t rkey, imm, opcode, flags;
};

// vrb_wc is what is used of a completion. After an error only wr_id, status and
// qp_num mean anything.
struct vrb_wc {
	uint64_t wr_id;
	uint32_t qp_num, imm, byte_len;
	uint8_t status, opcode, flags, pad;
};

// vrb_peer is the other end of a queue pair.
struct vrb_peer {
	uint8_t gid[16];
	uint32_t qp_num, psn;
	uint16_t lid;
	uint8_t mtu, reads;
};

// vrb_event is an asynchronous event.
struct vrb_event {
	int32_t type;
	uint32_t qp_num; // of a queue pair's event
	uint64_t srq;    // of a receive queue's event: its handle, as a number
};

static inline int vrb_nonblock(int fd)
{
	int fl = fcntl(fd, F_GETFL);
	return fl < 0 || fcntl(fd, F_SETFL, fl | O_NONBLOCK) < 0 ? errno : 0;
}

static inline struct ibv_context *vrb_open(const char *name)
{
	int i, n = 0, err = ENODEV;
	struct ibv_context *ctx = NULL;
	struct ibv_device **list = ibv_get_device_list(&n);

	if (!list)
		return NULL;
	for (i = 0; i < n && !ctx; i++) {
		if (*name && strcmp(name, ibv_get_device_name(list[i])))
			continue;
		ctx = ibv_open_device(list[i]);
		if (!ctx)
			err = errno ? errno : EIO;
	}
	ibv_free_device_list(list);
	if (ctx && (err = vrb_nonblock(ctx->async_fd))) {
		ibv_close_device(ctx);
		ctx = NULL;
	}
	if (!ctx)
		errno = err;
	return ctx;
}

// vrb_score orders the addresses of a port: routable ones by IPv4 first.
static inline int vrb_score(const struct ibv_gid_entry *e)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *g = e->gid.raw;

	switch (e->gid_type) {
	case IBV_GID_TYPE_IB:
		return 1;
	case IBV_GID_TYPE_ROCE_V1:
		return 2;
	default:
		if (!memcmp(g, v4, sizeof v4))
			return 5;
		return g[0] == 0xfe && (g[1] & 0xc0) == 0x80 ? 3 : 4;
	}
}

// vrb_query fills c. want, if it isn't null, is the address that the port must have.
static inline int vrb_query(struct ibv_context *ctx, uint8_t port, const uint8_t *want, struct vrb_caps *c)
{
	struct ibv_device_attr d;
	struct ibv_port_attr p;
	struct ibv_gid_entry e[256];
	ssize_t i, n;
	int err, best = 0;

	if ((err = ibv_query_device(ctx, &d)) || (err = ibv_query_port(ctx, port, &p)))
		return err;
	if (p.state != IBV_PORT_ACTIVE)
		return ENETDOWN;
	n = ibv_query_gid_table(ctx, e, 256, 0);
	if (n < 0)
		return (int)-n;
	for (i = 0; i < n; i++) {
		if (e[i].port_num != port || (want && memcmp(want, e[i].gid.raw, 16)))
			continue;
		if (vrb_score(&e[i]) <= best)
			continue;
		best = vrb_score(&e[i]);
		memcpy(c->gid, e[i].gid.raw, 16);
		c->gid_index = e[i].gid_index;
	}
	if (!best)
		return EADDRNOTAVAIL;
	c->max_msg = p.max_msg_sz;
	c->max_cqe = d.max_cqe;
	c->max_qp_wr = d.max_qp_wr;
	c->max_srq_wr = d.max_srq_wr;
	c->reads_in = d.max_qp_rd_atom;
	c->reads_out = d.max_qp_init_rd_atom;
	c->lid = p.lid;
	c->mtu = p.active_mtu;
	c->ethernet = p.link_layer == IBV_LINK_LAYER_ETHERNET;
	return 0;
}

static inline struct ibv_mr *vrb_reg(struct ibv_pd *pd, uint64_t addr, uint64_t len, int access)
{
	return ibv_reg_mr(pd, (void *)(uintptr_t)addr, len, access);
}

static inline struct ibv_comp_channel *vrb_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *ch = ibv_create_comp_channel(ctx);
	int err;

	if (ch && (err = vrb_nonblock(ch->fd))) {
		ibv_destroy_comp_channel(ch);
		errno = err;
		return NULL;
	}
	return ch;
}

static inline struct ibv_cq *vrb_cq(struct ibv_context *ctx, struct ibv_comp_channel *ch, int depth)
{
	return ibv_create_cq(ctx, depth, NULL, ch, 0);
}

static inline int vrb_arm(struct ibv_cq *cq, int solicited)
{
	return ibv_req_notify_cq(cq, solicited);
}

// vrb_events takes the events that wait in cq's own channel.
static inline void vrb_events(struct ibv_comp_channel *ch)
{
	struct ibv_cq *cq;
	void *ctx;

	while (!ibv_get_cq_event(ch, &cq, &ctx))
		ibv_ack_cq_events(cq, 1);
}

static inline int vrb_poll(struct ibv_cq *cq, struct vrb_wc *out)
{
	struct ibv_wc wc[VRB_BATCH];
	int i, n = ibv_poll_cq(cq, VRB_BATCH, wc);

	for (i = 0; i < n; i++) {
		out[i].wr_id = wc[i].wr_id;
		out[i].qp_num = wc[i].qp_num;
		out[i].imm = ntohl(wc[i].imm_data);
		out[i].byte_len = wc[i].byte_len;
		out[i].status = wc[i].status;
		out[i].opcode = wc[i].opcode & 0xff;
		out[i].flags = wc[i].wc_flags;
	}
	return n;
}

static inline struct ibv_srq *vrb_srq(struct ibv_pd *pd, int slots)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = slots, .max_sge = 1 } };
	return ibv_create_srq(pd, &a);
}

static inline int vrb_srq_limit(struct ibv_srq *srq, int low)
{
	struct ibv_srq_attr a = { .srq_limit = low };
	return ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT);
}

// vrb_post_slots posts slots to srq, or to qp where there is none. It returns 0
// or the error of the first that failed.
static inline int vrb_post_slots(struct ibv_srq *srq, struct ibv_qp *qp, const int32_t *slot, int n,
				 uint64_t tag, uint64_t base, uint64_t stride, uint32_t size, uint32_t lkey)
{
	struct ibv_recv_wr wr[VRB_BATCH], *bad;
	struct ibv_sge sge[VRB_BATCH];
	int i, k, err;

	for (; n > 0; n -= k, slot += k) {
		k = n < VRB_BATCH ? n : VRB_BATCH;
		for (i = 0; i < k; i++) {
			sge[i] = (struct ibv_sge){ base + stride * (uint32_t)slot[i], size, lkey };
			wr[i] = (struct ibv_recv_wr){ tag | (uint32_t)slot[i], i + 1 < k ? &wr[i + 1] : NULL, &sge[i], 1 };
		}
		err = srq ? ibv_post_srq_recv(srq, wr, &bad) : ibv_post_recv(qp, wr, &bad);
		if (err)
			return err;
	}
	return 0;
}

static inline struct ibv_qp *vrb_qp(struct ibv_pd *pd, struct ibv_cq *scq, struct ibv_cq *rcq, struct ibv_srq *srq,
				    int depth, int slots, int *inline_size)
{
	struct ibv_qp_init_attr a = {
		.send_cq = scq, .recv_cq = rcq, .srq = srq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = depth, .max_recv_wr = srq ? 0 : slots, .max_send_sge = 2,
			 .max_recv_sge = srq ? 0 : 1, .max_inline_data = *inline_size },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &a);

	if (qp)
		*inline_size = a.cap.max_inline_data;
	return qp;
}

static inline int vrb_init(struct ibv_qp *qp, uint8_t port)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = port, .qp_access_flags = IBV_ACCESS_REMOTE_READ };
	return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

// vrb_ready takes qp from INIT to ready-to-send.
static inline int vrb_ready(struct ibv_qp *qp, uint8_t port, const struct vrb_caps *c, const struct vrb_peer *p, uint32_t psn)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = p->mtu < c->mtu ? p->mtu : c->mtu,
		.dest_qp_num = p->qp_num,
		.rq_psn = p->psn,
		.max_dest_rd_atomic = c->reads_in > 255 ? 255 : c->reads_in,
		.min_rnr_timer = 6, // 80 µs; 0 would be 655 ms
		.ah_attr = { .is_global = 1, .dlid = p->lid, .port_num = port,
			     .grh = { .sgid_index = c->gid_index, .hop_limit = 64 } },
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn,
		.timeout = 14, // 67 ms, six times: a dead peer is reported within seconds
		.retry_cnt = 6,
		.rnr_retry = 7, // for ever: a message waits for a slot
		.max_rd_atomic = p->reads < c->reads_out ? p->reads : c->reads_out,
	};
	int err;

	memcpy(rtr.ah_attr.grh.dgid.raw, p->gid, 16);
	err = ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	return ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static inline int vrb_fail(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };
	return ibv_modify_qp(qp, &a, IBV_QP_STATE);
}

// vrb_post_send posts n requests, returns how many the adapter took, and says
// in *err why not all. The adapter's calls return their error; errno stays 0.
static inline int vrb_post_send(struct ibv_qp *qp, const struct vrb_send *s, int n, int *err)
{
	struct ibv_send_wr wr[VRB_BATCH], *bad;
	struct ibv_sge sge[VRB_BATCH][2];
	int i, j, k, done = 0;

	for (*err = 0; done < n; done += k) {
		k = n - done < VRB_BATCH ? n - done : VRB_BATCH;
		for (i = 0; i < k; i++) {
			const struct vrb_send *r = &s[done + i];
			int m = 0;

			for (j = 0; j < 2; j++)
				if (r->len[j])
					sge[i][m++] = (struct ibv_sge){ r->addr[j], r->len[j], r->lkey[j] };
			wr[i] = (struct ibv_send_wr){
				.wr_id = r->wr_id, .next = i + 1 < k ? &wr[i + 1] : NULL,
				.sg_list = sge[i], .num_sge = m, .opcode = r->opcode, .send_flags = r->flags,
				.imm_data = htonl(r->imm),
				.wr.rdma = { .remote_addr = r->remote, .rkey = r->rkey },
			};
		}
		*err = ibv_post_send(qp, wr, &bad);
		if (*err)
			return done + (int)(bad - wr);
	}
	return done;
}

// vrb_async takes one asynchronous event; EAGAIN when there is none.
static inline int vrb_async(struct ibv_context *ctx, struct vrb_event *out)
{
	struct ibv_async_event e;

	if (ibv_get_async_event(ctx, &e))
		return errno;
	*out = (struct vrb_event){ .type = e.event_type };
	switch (e.event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		out->qp_num = e.element.qp->qp_num;
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
	case IBV_EVENT_SRQ_ERR:
		out->srq = (uintptr_t)e.element.srq;
		break;
	default:
		break;
	}
	ibv_ack_async_event(&e);
	return 0;
}

#endif
