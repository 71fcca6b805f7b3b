/* SPDX-License-Identifier: MIT */
/*
 * The offset tables of struct taskstats by version, and the walk through the attributes. See taskstats.h.
 * The struct lies at an odd place in the message (4 bytes off on x86), so all reads go through memcpy.
 */
#include "decode/taskstats.h"

#include <errno.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#include "base/util.h"

/* Offsets in struct taskstats that moved between versions; all others keep their distance from `basic`. */
struct layout {
	uint16_t run_virtual;
	uint16_t basic; /* ac_comm; .. ac_stimescaled keep their distance from it */
	uint16_t btime64;
	uint16_t tgid;
	uint16_t size;			    /* through the last member that the layout knows */
	uint16_t count[EXEUNT_DELAY_COUNT]; /* KIND_count, KIND_delay_total 8 behind */
	uint16_t max[EXEUNT_DELAY_COUNT];   /* KIND_delay_max, _min 8 behind; 0: none */
};

/* Members behind ac_comm, as distances from it. */
enum {
	D_UID = 40,
	D_GID = 44,
	D_PID = 48,
	D_PPID = 52,
	D_BTIME = 56,
	D_ETIME = 64,
	D_UTIME = 72,
	D_STIME = 80,
	D_MINFLT = 88,
	D_MAJFLT = 96,
	D_HIWATER_RSS = 120,
	D_HIWATER_VM = 128,
	D_READ_CHAR = 136,
	D_WRITE_CHAR = 144,
	D_READ_SYSC = 152,
	D_WRITE_SYSC = 160,
	D_READ_BYTES = 168,
	D_WRITE_BYTES = 176,
	D_CANCELLED = 184,
	D_NVCSW = 192,
	D_NIVCSW = 200
};

/* Versions 1 to 14, and 16 on: members are only added behind. */
static const struct layout layout_grown = {
	.run_virtual = 72,
	.basic = 80,
	.btime64 = 344,
	.tgid = 368,
	.size = 560,
	.count = { 16, 32, 48, 312, 328, 352, 400, 416 },
	.max = { 432, 448, 464, 480, 496, 512, 528, 544 },
};

/* Version 15 (6.14.0 to 6.14.8): max and min stand behind each delay pair, and push the rest along. */
static const struct layout layout_15 = {
	.run_virtual = 120,
	.basic = 128,
	.btime64 = 424,
	.tgid = 464,
	.size = 560,
	.count = { 16, 48, 80, 360, 392, 432, 496, 528 },
	.max = { 32, 64, 96, 376, 408, 448, 512, 544 },
};

/* The first version that has the kind. */
static const uint8_t delay_since[EXEUNT_DELAY_COUNT] = { 1, 1, 1, 7, 9, 11, 13, 14 };

static void decode_basic(const unsigned char *s, struct task_exit *t)
{
	memcpy(t->comm, s, sizeof(t->comm) - 1); /* TASK_COMM_LEN 16 in a field of 32 */
	t->comm[sizeof(t->comm) - 1] = '\0';
	t->uid = load_u32(s + D_UID);
	t->gid = load_u32(s + D_GID);
	t->pid = (int32_t)load_u32(s + D_PID);
	t->ppid = (int32_t)load_u32(s + D_PPID);
	t->btime = load_u32(s + D_BTIME);
	t->etime_us = load_u64(s + D_ETIME);
	t->utime_us = load_u64(s + D_UTIME);
	t->stime_us = load_u64(s + D_STIME);
	t->minflt = load_u64(s + D_MINFLT);
	t->majflt = load_u64(s + D_MAJFLT);
}

static void decode_extended(const unsigned char *s, size_t len, struct task_exit *t)
{
	if (len >= D_WRITE_SYSC + 8) {
		t->has |= TASK_HAS_MEMORY;
		t->hiwater_rss_kb = load_u64(s + D_HIWATER_RSS);
		t->hiwater_vm_kb = load_u64(s + D_HIWATER_VM);
		t->read_chars = load_u64(s + D_READ_CHAR);
		t->write_chars = load_u64(s + D_WRITE_CHAR);
		t->read_syscalls = load_u64(s + D_READ_SYSC);
		t->write_syscalls = load_u64(s + D_WRITE_SYSC);
	}
	if (len >= D_CANCELLED + 8) {
		t->has |= TASK_HAS_IO;
		t->read_bytes = load_u64(s + D_READ_BYTES);
		t->write_bytes = load_u64(s + D_WRITE_BYTES);
		t->cancelled_write_bytes = load_u64(s + D_CANCELLED);
	}
	if (len >= D_NIVCSW + 8) {
		t->has |= TASK_HAS_SWITCHES;
		t->nvcsw = load_u64(s + D_NVCSW);
		t->nivcsw = load_u64(s + D_NIVCSW);
	}
}

/*
 * The CPU's delays come from the scheduler and are always kept; the others only for tasks born while delay accounting
 * was on, and a 0 does not tell which (kernel/delayacct.c: delayacct_add_tsk).
 */
static void decode_delays(const unsigned char *s, size_t len, const struct layout *l, bool kept,
			  struct task_exit *t)
{
	bool range = t->version >= 15;
	uint64_t any = 0;

	for (int k = 0; k < EXEUNT_DELAY_COUNT; k++) {
		struct exeunt_delay *d = &t->delay[k];

		*d = (struct exeunt_delay){ 0 };
		if (t->version < delay_since[k] || len < l->count[k] + 16u)
			continue;
		d->count = load_u64(s + l->count[k]);
		d->total_ns = load_u64(s + l->count[k] + 8);
		if (range && len >= l->max[k] + 16u) {
			d->max_ns = load_u64(s + l->max[k]);
			d->min_ns = load_u64(s + l->max[k] + 8);
		}
		t->delay_kinds |= 1u << k;
		if (k != EXEUNT_DELAY_CPU)
			any |= d->count | d->total_ns;
	}
	if (!kept && !any)
		t->delay_kinds &= 1u << EXEUNT_DELAY_CPU;
	if (range && len >= l->size)
		t->has |= TASK_HAS_DELAY_RANGE;
}

static int decode_stats(const unsigned char *s, size_t len, bool kept, struct task_exit *t)
{
	const struct layout *l;

	if (len < TASKSTATS_MIN_SIZE)
		return -EBADMSG;
	t->version = load_u16(s);
	l = t->version == 15 ? &layout_15 : &layout_grown;
	if (t->version < 2 || len < l->basic + D_MAJFLT + 8u)
		return -EBADMSG;
	t->exit_code = load_u32(s + 4);
	t->flag = s[8];
	t->nice = (int8_t)s[9];
	t->run_ns = load_u64(s + l->run_virtual);
	decode_basic(s + l->basic, t);
	decode_extended(s + l->basic, len - l->basic, t);
	decode_delays(s, len, l, kept, t);
	if (t->version >= 10 && len >= l->btime64 + 8u) {
		t->has |= TASK_HAS_BTIME64;
		t->btime = load_u64(s + l->btime64);
	}
	if (t->version >= 12 && len >= l->tgid + 32u) {
		t->has |= TASK_HAS_TGID;
		t->tgid = (int32_t)load_u32(s + l->tgid);
		t->tgetime_us = load_u64(s + l->tgid + 8);
		t->exe_dev = load_u64(s + l->tgid + 16);
		t->exe_inode = load_u64(s + l->tgid + 24);
	}
	return t->pid > 0 && t->tgid >= 0 ? 0 : -EBADMSG;
}

struct attr {
	unsigned int type;
	const unsigned char *data;
	size_t len;
};

/* Steps to the next attribute. Returns 1, 0 at the end, -EBADMSG when one runs over the end. */
static int attr_next(const unsigned char **p, size_t *left, struct attr *a)
{
	size_t n, step;

	if (*left < NLA_HDRLEN)
		return 0; /* what is shorter than a header is padding */
	n = load_u16(*p);
	if (n < NLA_HDRLEN || n > *left)
		return -EBADMSG;
	a->type = load_u16(*p + 2) & NLA_TYPE_MASK;
	a->data = *p + NLA_HDRLEN;
	a->len = n - NLA_HDRLEN;
	step = MIN((size_t)NLA_ALIGN(n), *left);
	*p += step;
	*left -= step;
	return 1;
}

/* Inside AGGR_PID: the struct. 64-bit machines that need alignment put a NULL attribute before it. */
static int decode_aggr_pid(const struct attr *nest, bool kept, struct task_exit *t)
{
	const unsigned char *p = nest->data;
	size_t left = nest->len;
	struct attr a;
	int r;

	while ((r = attr_next(&p, &left, &a)) > 0)
		if (a.type == TASKSTATS_TYPE_STATS)
			return decode_stats(a.data, a.len, kept, t);
	return r < 0 ? r : -EBADMSG;
}

/* Inside AGGR_TGID only the id is of use: the sums may miss whole threads. */
static int decode_aggr_tgid(const struct attr *nest, int32_t *tgid)
{
	const unsigned char *p = nest->data;
	size_t left = nest->len;
	struct attr a;
	int r;

	while ((r = attr_next(&p, &left, &a)) > 0)
		if (a.type == TASKSTATS_TYPE_TGID && a.len >= 4)
			*tgid = (int32_t)load_u32(a.data);
	return r;
}

static int decode_attrs(const unsigned char *p, size_t left, bool kept, struct task_exit *t)
{
	bool found = false;
	int32_t tgid = 0;
	struct attr a;
	int r;

	while ((r = attr_next(&p, &left, &a)) > 0) {
		if (a.type == TASKSTATS_TYPE_AGGR_PID && !found) {
			r = decode_aggr_pid(&a, kept, t);
			found = true;
		} else if (a.type == TASKSTATS_TYPE_AGGR_TGID) {
			r = decode_aggr_tgid(&a, &tgid);
			t->has |= TASK_HAS_AGGREGATE;
		}
		if (r < 0)
			return r;
	}
	if (r < 0 || !found)
		return r;
	if (!(t->has & TASK_HAS_TGID))
		t->tgid = tgid > 0 ? tgid : 0;
	return 1;
}

int taskstats_decode(const void *data, size_t len, bool delay_accounting, struct task_exit *ret,
		     size_t *used)
{
	const unsigned char *p = data;
	size_t n;

	*used = len;
	if (len < NLMSG_HDRLEN)
		return -EBADMSG;
	n = load_u32(p);
	if (n < NLMSG_HDRLEN || n > len)
		return -EBADMSG;
	*used = MIN((size_t)NLMSG_ALIGN(n), len);
	if (load_u16(p + 4) < NLMSG_MIN_TYPE)
		return 0; /* control: an acknowledgement, an error */
	if (n < NLMSG_HDRLEN + GENL_HDRLEN)
		return -EBADMSG;
	if (p[NLMSG_HDRLEN] != TASKSTATS_CMD_NEW)
		return 0;
	ret->has = 0;
	ret->delay_kinds = 0;
	ret->tgid = 0;
	ret->seq = load_u32(p + 8);
	return decode_attrs(p + NLMSG_HDRLEN + GENL_HDRLEN, n - NLMSG_HDRLEN - GENL_HDRLEN,
			    delay_accounting, ret);
}
