/* SPDX-License-Identifier: MIT */
/*
 * The layout of proc connector messages: nlmsghdr (16), cn_msg (20), proc_event (16 and a union of
 * 24). The event lies 4 bytes off its natural alignment (drivers/connector/cn_proc.c:
 * buffer_to_cn_msg), so all reads go through memcpy. See procevents.h. The numbers of
 * include/uapi/linux/cn_proc.h are repeated here, because that header's enum changed its name in
 * 6.6 and holds a value that does not fit an int.
 */
#include "decode/procevents.h"

#include <errno.h>
#include <string.h>

#include <linux/connector.h>
#include <linux/netlink.h>

#include "base/util.h"

enum {
	WHAT_NONE = 0x0,
	WHAT_FORK = 0x1,
	WHAT_EXEC = 0x2,
	WHAT_UID = 0x4,
	WHAT_GID = 0x40,
	WHAT_SID = 0x80,
	WHAT_PTRACE = 0x100,
	WHAT_COMM = 0x200,
	WHAT_COREDUMP = 0x40000000,
};
#define WHAT_EXIT 0x80000000u

#define CN_MSG_SIZE 20u	    /* struct cn_msg without data */
#define EVENT_HEAD_SIZE 16u /* what, cpu, timestamp_ns */

/* The bytes of the union that each kind needs; *need is left alone for kinds that are not known. */
static int kind_of(uint32_t what, enum proc_event_kind *kind, size_t *need)
{
	static const struct {
		uint32_t what;
		uint8_t kind, need;
	} kinds[] = {
		{ WHAT_FORK, PROC_KIND_FORK, 16 },	  { WHAT_EXEC, PROC_KIND_EXEC, 8 },
		{ WHAT_EXIT, PROC_KIND_EXIT, 16 },	  { WHAT_COMM, PROC_KIND_COMM, 24 },
		{ WHAT_SID, PROC_KIND_SID, 8 },		  { WHAT_UID, PROC_KIND_UID, 16 },
		{ WHAT_GID, PROC_KIND_GID, 16 },	  { WHAT_PTRACE, PROC_KIND_PTRACE, 16 },
		{ WHAT_COREDUMP, PROC_KIND_COREDUMP, 8 }, { WHAT_NONE, PROC_KIND_ACK, 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].what == what) {
			*kind = kinds[i].kind;
			*need = kinds[i].need;
			return 1;
		}
	return 0;
}

static int32_t load_i32(const unsigned char *p)
{
	return (int32_t)load_u32(p);
}

/* `p` is the union, of `len` bytes, which is what the kind needs or more. */
static void decode_data(const unsigned char *p, size_t len, struct proc_event_info *e)
{
	size_t parent = 0; /* offset of parent_pid, parent_tgid */

	e->pid = load_i32(p);
	e->tgid = load_i32(p + 4);
	switch (e->kind) {
	case PROC_KIND_FORK:
		e->parent_pid = e->pid;
		e->parent_tgid = e->tgid;
		e->pid = load_i32(p + 8);
		e->tgid = load_i32(p + 12);
		break;
	case PROC_KIND_UID:
	case PROC_KIND_GID:
		e->u.id.real = load_u32(p + 8);
		e->u.id.effective = load_u32(p + 12);
		break;
	case PROC_KIND_PTRACE:
		e->u.ptrace.tracer_pid = load_i32(p + 8);
		e->u.ptrace.tracer_tgid = load_i32(p + 12);
		break;
	case PROC_KIND_COMM:
		memcpy(e->u.comm, p + 8, sizeof(e->u.comm) - 1);
		break;
	case PROC_KIND_COREDUMP:
		parent = 8;
		break;
	case PROC_KIND_EXIT:
		e->u.exit.code = load_u32(p + 8);
		e->u.exit.signal = load_i32(p + 12);
		parent = 16;
		break;
	default:
		break;
	}
	/* Since 4.18; before, the kernel left these bytes 0, or out. */
	if (parent && len >= parent + 8) {
		e->parent_pid = load_i32(p + parent);
		e->parent_tgid = load_i32(p + parent + 4);
	}
}

static int decode_event(const unsigned char *p, size_t len, uint32_t seq, struct proc_event_info *e)
{
	size_t need;

	if (len < EVENT_HEAD_SIZE)
		return -EBADMSG;
	memset(e, 0, sizeof(*e));
	if (!kind_of(load_u32(p), &e->kind, &need))
		return 0;
	if (len < EVENT_HEAD_SIZE + need)
		return -EBADMSG;
	e->cpu = load_u32(p + 4);
	e->seq = seq;
	e->timestamp_ns = load_u64(p + 8);
	p += EVENT_HEAD_SIZE;
	if (e->kind == PROC_KIND_ACK) {
		e->u.error = load_u32(p);
		return 1;
	}
	decode_data(p, len - EVENT_HEAD_SIZE, e);
	return e->pid > 0 && e->tgid > 0 ? 1 : -EBADMSG;
}

int procevents_decode(const void *data, size_t len, struct proc_event_info *ret, size_t *used)
{
	const unsigned char *p = data;
	size_t n, event_len;

	*used = len;
	if (len < NLMSG_HDRLEN)
		return -EBADMSG;
	n = load_u32(p);
	if (n < NLMSG_HDRLEN || n > len)
		return -EBADMSG;
	*used = MIN((size_t)NLMSG_ALIGN(n), len);
	/* The connector sends its messages as NLMSG_DONE (drivers/connector/connector.c). */
	if (load_u16(p + 4) != NLMSG_DONE)
		return 0;
	if (n < NLMSG_HDRLEN + CN_MSG_SIZE)
		return -EBADMSG;
	p += NLMSG_HDRLEN;
	if (load_u32(p) != CN_IDX_PROC || load_u32(p + 4) != CN_VAL_PROC)
		return 0;
	event_len = load_u16(p + 16);
	if (event_len > n - NLMSG_HDRLEN - CN_MSG_SIZE)
		return -EBADMSG;
	return decode_event(p + CN_MSG_SIZE, event_len, load_u32(p + 8), ret);
}
