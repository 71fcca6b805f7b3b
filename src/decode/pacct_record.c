/* SPDX-License-Identifier: MIT */
#include "decode/pacct_record.h"

#include "base/util.h"
#include "record/fields.h"
#include "record/status.h"

#define USEC_PER_SEC UINT64_C(1000000)

/*
 * Presence bits are gathered in a variable and stored once: twenty read-modify-writes of the same word, one waiting for the
 * other, were most of what a record took.
 */
_Static_assert(EXEUNT_F_MAJOR_FAULTS < 64, "what accounting tells of is in the first word");

static inline void note(uint64_t *has, enum exeunt_field field)
{
	*has |= UINT64_C(1) << field;
}

static inline void set_who(const struct pacct_exit *e, struct exeunt_record *r, uint64_t *has)
{
	if (e->present & PACCT_HAS_PID) {
		r->pid = (int32_t)e->pid;
		r->parent_pid = (int32_t)e->ppid;
		note(has, EXEUNT_F_PID);
		note(has, EXEUNT_F_PARENT_PID);
	}
	if (e->present & PACCT_HAS_UID) {
		r->uid = e->uid;
		r->gid = e->gid;
		note(has, EXEUNT_F_UID);
		note(has, EXEUNT_F_GID);
	}
	/* Linux never fills more than 15; a name of 16 is another writer's */
	memcpy(r->comm, e->comm, e->comm_len);
	note(has, EXEUNT_F_COMM);
	if (e->present & PACCT_HAS_TTY) {
		r->tty.data = e->tty_text;
		r->tty.len = (uint32_t)strlen(e->tty_text);
		note(has, EXEUNT_F_TTY);
	}
}

/* An end after 2262 does not fit, and is nonsense: it stays unknown. */
static inline void set_exit_time(const struct pacct_exit *e, struct exeunt_record *r, uint64_t *has)
{
	uint64_t tick_ns = (uint64_t)NS_PER_SEC / (e->ahz ? e->ahz : 1);
	uint64_t end_s = e->btime_s + e->etime_us / USEC_PER_SEC;

	if (end_s >= INT64_MAX / NS_PER_SEC)
		return;
	r->exit_time_ns = (int64_t)end_s * NS_PER_SEC;
	r->exit_precision_ns = (uint64_t)NS_PER_SEC;
	if (e->etime_precision_ns > tick_ns)
		r->exit_precision_ns += e->etime_precision_ns;
	note(has, EXEUNT_F_EXIT_TIME);
	note(has, EXEUNT_F_EXIT_PRECISION);
}

static inline void set_when(const struct pacct_exit *e, struct exeunt_record *r, uint64_t *has)
{
	if (e->present & PACCT_HAS_ETIME) {
		r->elapsed_us = e->etime_us;
		note(has, EXEUNT_F_ELAPSED);
	}
	if (!(e->present & PACCT_HAS_BTIME))
		return;
	r->creation_time_ns = (int64_t)e->btime_s * NS_PER_SEC;
	r->creation_precision_ns = (uint64_t)NS_PER_SEC;
	note(has, EXEUNT_F_CREATION_TIME);
	note(has, EXEUNT_F_CREATION_PRECISION);
	if (e->present & PACCT_HAS_ETIME)
		set_exit_time(e, r, has);
	if (e->present & PACCT_HAS_PID) {
		/* the second does not tell apart those that had a pid one after the other; their place in the file does */
		r->entity_start_ns = (uint64_t)r->creation_time_ns + e->offset / 64 % NS_PER_SEC;
		note(has, EXEUNT_F_ENTITY_ID);
	}
}

static inline void set_how(const struct pacct_exit *e, struct exeunt_record *r, uint64_t *has)
{
	if ((e->present & PACCT_HAS_STATUS) && !(e->status & STATUS_SIGNAL_MASK) &&
	    e->flags & (PACCT_AXSIG | PACCT_ACORE))
		note(has, EXEUNT_F_EXIT_CERTAIN); /* and false */
	r->forked_not_execed = e->flags & PACCT_AFORK;
	r->used_privilege = e->flags & PACCT_ASU;
	note(has, EXEUNT_F_FORKED_NOT_EXECED);
	note(has, EXEUNT_F_USED_PRIVILEGE);
}

static inline void set_cost(const struct pacct_exit *e, struct exeunt_record *r, uint64_t *has)
{
	if (e->present & PACCT_HAS_UTIME) {
		r->cpu_user_us = e->utime_us;
		note(has, EXEUNT_F_CPU_USER);
	}
	if (e->present & PACCT_HAS_STIME) {
		r->cpu_system_us = e->stime_us;
		note(has, EXEUNT_F_CPU_SYSTEM);
	}
	if (e->present & PACCT_HAS_MEM) {
		r->vm_at_exit_bytes = e->mem_kib * 1024;
		note(has, EXEUNT_F_VM_AT_EXIT);
	}
	if (e->present & PACCT_HAS_MINFLT) {
		r->minor_faults = e->minflt;
		note(has, EXEUNT_F_MINOR_FAULTS);
	}
	if (e->present & PACCT_HAS_MAJFLT) {
		r->major_faults = e->majflt;
		note(has, EXEUNT_F_MAJOR_FAULTS);
	}
}

void pacct_to_record(const struct pacct_exit *e, struct exeunt_record *r)
{
	uint64_t has;

	memset(r, 0, sizeof(*r));
	r->size = sizeof(*r);
	r->version = EXEUNT_RECORD_VERSION;
	r->type = EXEUNT_TYPE_EXIT;
	r->sources = EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT);
	field_set(r, EXEUNT_F_SOURCES);
	if (e->present & PACCT_HAS_STATUS)
		record_set_status(r, e->status);
	has = r->present[0];
	set_who(e, r, &has);
	set_when(e, r, &has);
	set_how(e, r, &has);
	set_cost(e, r, &has);
	r->present[0] = has;
}
