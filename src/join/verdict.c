/* SPDX-License-Identifier: MIT */
/* The rules that turn thread records into one wait status. See verdict.h. */
#include "join/verdict.h"

#include "base/util.h"

#define SIGNAL_BITS 0x7f
#define CORE_BIT 0x80

/* Records further apart than this cannot be two sides of one race. Coalesced reading alone spreads them by 5 ms. */
#define RACE_NS (50 * NS_PER_MSEC)

static int64_t distance(int64_t a, int64_t b)
{
	return a < b ? b - a : a - b;
}

/*
 * The thread that writes the core carries 0x80; its siblings took their code before the dump was done
 * (kernel/exit.c: coredump_task_exit()), so the bit counts wherever it is seen.
 */
static void add_killed(struct verdict *v, uint32_t code)
{
	if (v->killed_seen && (code & SIGNAL_BITS) == (v->killed_code & SIGNAL_BITS))
		code |= v->killed_code & CORE_BIT;
	v->killed_seen = true;
	v->killed_code = code;
}

void verdict_add(struct verdict *v, const struct task_exit *task, int64_t mono_ns)
{
	bool killed = task->flag & TASK_XSIG;

	if (task->tgid && task->pid == task->tgid)
		v->leaders++;
	if (killed && task->exit_code) {
		add_killed(v, task->exit_code);
	} else if (killed && !(task->flag & TASK_GROUP)) {
		v->zero_seen = true;
		v->zero_ns = mono_ns;
		v->zero_exe = task->exe_inode;
	}
	if (task->flag & TASK_GROUP) {
		v->last_seen = true;
		v->last_is_leader = task->pid == task->tgid;
		v->last_killed = killed;
		v->last_code = task->exit_code;
		v->last_exe = task->exe_inode;
		v->last_ns = mono_ns;
	} else if (!killed && (!v->other_seen || task->exit_code || !v->other_code)) {
		v->other_seen = true;
		v->other_code = task->exit_code;
		v->other_ns = mono_ns;
	}
}

/*
 * A sibling went by TASK_XSIG with 0, the last thread by itself with a code. Either the sibling fell to an exec and the
 * code is the new program's, or exit(0) by one thread raced with the own exit of the last. After an exec only the
 * leader is left.
 */
static bool decide_exec(const struct verdict *v, uint32_t *status)
{
	bool exec = v->leaders > 1 || v->zero_exe != v->last_exe;

	*status = v->last_is_leader || exec ? v->last_code : 0;
	return exec || distance(v->zero_ns, v->last_ns) > RACE_NS;
}

bool verdict_decide(const struct verdict *v, uint32_t *status)
{
	if (v->killed_seen) {
		*status = v->killed_code;
		return true;
	}
	*status = v->last_code;
	if (!v->last_seen) {
		*status = v->zero_seen ? 0 : v->other_code;
		return false;
	}
	if (v->last_killed)
		return true;
	if (v->zero_seen)
		return v->last_code == 0 || decide_exec(v, status);
	if (!v->other_seen || v->other_code == v->last_code ||
	    distance(v->other_ns, v->last_ns) > RACE_NS)
		return true;
	/*
	 * Two threads ended by themselves at about the same time with different codes. The C library's threads end
	 * with 0, so a code comes from exit() of the whole process; that one counts, if there is just one.
	 */
	if (v->last_code == 0)
		*status = v->other_code;
	return false;
}
