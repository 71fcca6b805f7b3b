/* SPDX-License-Identifier: MIT */
#include "decode/pacct_record.h"

#include "base/util.h"
#include "record/fields.h"
#include "record/status.h"

#define USEC_PER_SEC UINT64_C(1000000)

static void set_who(const struct pacct_exit *e, struct exeunt_record *r)
{
	if (e->present & PACCT_HAS_PID) {
		r->pid = (int32_t)e->pid;
		r->parent_pid = (int32_t)e->ppid;
		field_set(r, EXEUNT_F_PID);
		field_set(r, EXEUNT_F_PARENT_PID);
	}
	if (e->present & PACCT_HAS_UID) {
		r->uid = e->uid;
		r->gid = e->gid;
		field_set(r, EXEUNT_F_UID);
		field_set(r, EXEUNT_F_GID);
	}
	/* Linux never fills more than 15; a name of 16 is another writer's */
	memcpy(r->comm, e->comm, e->comm_len);
	field_set(r, EXEUNT_F_COMM);
	if (e->present & PACCT_HAS_TTY) {
		r->tty.data = e->tty_text;
		r->tty.len = (uint32_t)strlen(e->tty_text);
		field_set(r, EXEUNT_F_TTY);
	}
}

/* An end after 2262 does not fit, and is nonsense: it stays unknown. */
static void set_exit_time(const struct pacct_exit *e, struct exeunt_record *r)
{
	uint64_t tick_ns = (uint64_t)NS_PER_SEC / (e->ahz ? e->ahz : 1);
	uint64_t end_s = e->btime_s + e->etime_us / USEC_PER_SEC;

	if (end_s >= INT64_MAX / NS_PER_SEC)
		return;
	r->exit_time_ns = (int64_t)end_s * NS_PER_SEC;
	r->exit_precision_ns = (uint64_t)NS_PER_SEC;
	if (e->etime_precision_ns > tick_ns)
		r->exit_precision_ns += e->etime_precision_ns;
	field_set(r, EXEUNT_F_EXIT_TIME);
	field_set(r, EXEUNT_F_EXIT_PRECISION);
}

static void set_when(const struct pacct_exit *e, struct exeunt_record *r)
{
	if (e->present & PACCT_HAS_ETIME) {
		r->elapsed_us = e->etime_us;
		field_set(r, EXEUNT_F_ELAPSED);
	}
	if (!(e->present & PACCT_HAS_BTIME))
		return;
	r->creation_time_ns = (int64_t)e->btime_s * NS_PER_SEC;
	r->creation_precision_ns = (uint64_t)NS_PER_SEC;
	field_set(r, EXEUNT_F_CREATION_TIME);
	field_set(r, EXEUNT_F_CREATION_PRECISION);
	if (e->present & PACCT_HAS_ETIME)
		set_exit_time(e, r);
	if (e->present & PACCT_HAS_PID) {
		r->entity_start_ns = (uint64_t)r->creation_time_ns;
		field_set(r, EXEUNT_F_ENTITY_ID);
	}
}

static void set_how(const struct pacct_exit *e, struct exeunt_record *r)
{
	if (e->present & PACCT_HAS_STATUS) {
		record_set_status(r, e->status);
		if (!(e->status & STATUS_SIGNAL_MASK) && e->flags & (PACCT_AXSIG | PACCT_ACORE))
			field_set(r, EXEUNT_F_EXIT_CERTAIN); /* and false */
	}
	r->forked_not_execed = e->flags & PACCT_AFORK;
	r->used_privilege = e->flags & PACCT_ASU;
	field_set(r, EXEUNT_F_FORKED_NOT_EXECED);
	field_set(r, EXEUNT_F_USED_PRIVILEGE);
}

static void set_cost(const struct pacct_exit *e, struct exeunt_record *r)
{
	const struct {
		uint32_t has;
		enum exeunt_field field;
		uint64_t *to;
		uint64_t value;
	} costs[] = {
		{ PACCT_HAS_UTIME, EXEUNT_F_CPU_USER, &r->cpu_user_us, e->utime_us },
		{ PACCT_HAS_STIME, EXEUNT_F_CPU_SYSTEM, &r->cpu_system_us, e->stime_us },
		{ PACCT_HAS_MEM, EXEUNT_F_VM_AT_EXIT, &r->vm_at_exit_bytes, e->mem_kib * 1024 },
		{ PACCT_HAS_MINFLT, EXEUNT_F_MINOR_FAULTS, &r->minor_faults, e->minflt },
		{ PACCT_HAS_MAJFLT, EXEUNT_F_MAJOR_FAULTS, &r->major_faults, e->majflt },
	};

	for (size_t i = 0; i < ARRAY_SIZE(costs); i++)
		if (e->present & costs[i].has) {
			*costs[i].to = costs[i].value;
			field_set(r, costs[i].field);
		}
}

void pacct_to_record(const struct pacct_exit *e, struct exeunt_record *r)
{
	memset(r, 0, sizeof(*r));
	r->size = sizeof(*r);
	r->version = EXEUNT_RECORD_VERSION;
	r->type = EXEUNT_TYPE_EXIT;
	r->sources = EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT);
	field_set(r, EXEUNT_F_SOURCES);
	set_who(e, r);
	set_when(e, r);
	set_how(e, r);
	set_cost(e, r);
}
