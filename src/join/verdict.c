/* SPDX-License-Identifier: MIT */
/* The rules that turn thread records into one wait status. See verdict.h. */
#include "join/verdict.h"

#include "base/util.h"
#include "record/status.h"

/*
 * A thread that is in its own exit when another one ends the whole process writes its record some 10 us behind that
 * one's (7 to 51 us were seen). What is much further apart is no race but one after the other.
 */
#define RACE_US 300
/*
 * No C library lets a thread end by itself with a code, so a last thread with a code ended the process, unless a
 * program makes the system call itself. Only the closest neighbours are left in doubt for that.
 */
#define RACE_ZERO_US 30

static bool within(const struct verdict_record *a, const struct verdict_record *b, uint64_t us)
{
	return a->seen && (a->at_us < b->at_us ? b->at_us - a->at_us : a->at_us - b->at_us) <= us;
}

static void keep_latest(struct verdict_record *kept, const struct verdict_record *r)
{
	if (!kept->seen || kept->at_us <= r->at_us)
		*kept = *r;
}

/*
 * The thread that writes the core carries 0x80; its siblings took their code before the dump was done
 * (kernel/exit.c: coredump_task_exit()), so the bit counts wherever it is seen.
 */
static void add_killed(struct verdict *v, struct verdict_record r)
{
	if (v->killed.seen &&
	    (r.code & STATUS_SIGNAL_MASK) == (v->killed.code & STATUS_SIGNAL_MASK))
		r.code |= v->killed.code & STATUS_CORE;
	v->killed = r;
}

void verdict_add(struct verdict *v, const struct task_exit *task)
{
	const struct verdict_record r = {
		.seen = true,
		.code = task->exit_code,
		.at_us = task->tgetime_us,
		.exe = task->exe_inode,
	};
	bool killed = task->flag & TASK_XSIG, last = task->flag & TASK_GROUP;

	if (task->pid == task->tgid)
		v->leaders++;
	if (last) {
		v->last = r;
		v->last_is_leader = task->pid == task->tgid;
		v->last_killed = killed;
	}
	if (killed && r.code)
		add_killed(v, r);
	else if (killed && !last)
		keep_latest(&v->zapped, &r);
	else if (!last)
		keep_latest(r.code ? &v->own_code : &v->own_zero, &r);
}

void verdict_add_audit(struct verdict *v, uint8_t code)
{
	if (!v->audit.seen)
		v->audit = (struct verdict_record){ .seen = true, .code = (uint32_t)code << 8 };
}

/*
 * A sibling went by TASK_XSIG with 0, the last thread by itself with a code. Either the sibling fell to an exec and the
 * code is the new program's, or exit(0) by one thread raced with the own exit of the last. After an exec only the
 * leader is left.
 */
static bool decide_exec(const struct verdict *v, uint32_t *status)
{
	bool exec = v->leaders > 1 || v->zapped.exe != v->last.exe;

	*status = v->last_is_leader || exec ? v->last.code : 0;
	return exec || !within(&v->zapped, &v->last, v->last_is_leader ? RACE_ZERO_US : RACE_US);
}

/*
 * All ended by themselves. The last one's code it is (synchronize_group_exit()), unless another thread ended the
 * process while the last was in its own exit already: then both records lie close together.
 */
static bool decide_own(const struct verdict *v)
{
	if (v->own_code.code != v->last.code && within(&v->own_code, &v->last, RACE_US))
		return false;
	return !v->last.code || !within(&v->own_zero, &v->last, RACE_ZERO_US);
}

bool verdict_decide(const struct verdict *v, uint32_t *status)
{
	if (v->killed.seen) {
		*status = v->killed.code;
		return true;
	}
	if (v->audit.seen) {
		*status = v->audit.code;
		return true;
	}
	if (!v->last.seen) {
		*status = v->zapped.seen ? 0 : v->own_code.code;
		return false;
	}
	*status = v->last.code;
	if (v->last_killed)
		return true;
	if (v->zapped.seen && v->last.code)
		return decide_exec(v, status);
	return v->zapped.seen || decide_own(v);
}
