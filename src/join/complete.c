/* SPDX-License-Identifier: MIT */
/* See complete.h. */
#include "join/complete.h"

#include "join/merge.h"
#include "record/fields.h"

/* The stamp of FORK is some 10 us behind the start that the kernel counts from, 1.6 ms at the worst seen when quiet. */
#define FORK_PRECISION_NS (100 * NS_PER_USEC)

/* With the birth on the monotonic clock and the elapsed time, both ends are known better than by when they were read. */
static void refine_times(const struct joiner *j, struct process *p, int64_t start_ns)
{
	struct exeunt_record *r = &p->record;
	int64_t to_real = j->real_offset_ns, end_ns = start_ns + merge_elapsed_ns(p->elapsed_us);

	if (!(p->sources & BIT_TASKSTATS) || start_ns > p->start_high_ns ||
	    start_ns + START_SLACK_NS < p->start_low_ns)
		return;
	r->creation_time_ns = start_ns + to_real;
	r->creation_precision_ns = FORK_PRECISION_NS;
	field_set(r, EXEUNT_F_CREATION_TIME);
	field_set(r, EXEUNT_F_CREATION_PRECISION);
	if (exeunt_has(r, EXEUNT_F_ELAPSED)) {
		r->exit_time_ns = end_ns + to_real;
		r->exit_precision_ns = FORK_PRECISION_NS;
	}
	/* with thread records the name is out already */
	if (!j->options.threads)
		r->entity_start_ns = (uint64_t)start_ns;
}

void complete_from_context(struct joiner *j, struct process *p, int64_t now_ns)
{
	struct exeunt_record *r = &p->record;
	const struct context_entry *e;
	int64_t start_ns = p->start_high_ns ? p->start_high_ns : p->touched_ns;

	if (!j->context)
		return;
	e = context_lookup(j->context, p->tgid, start_ns);
	if (!e)
		return;
	if (e->flags & CONTEXT_BORN)
		refine_times(j, p, e->start_ns);
	if (p->args_are_title && e->args)
		field_clear(
			r,
			EXEUNT_F_ARGS); /* what was given at exec is better than what was made of it */
	context_to_record(e, r);
	context_release(j->context, e, now_ns);
}
