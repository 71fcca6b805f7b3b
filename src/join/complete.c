/* SPDX-License-Identifier: MIT */
/* See complete.h. */
#include "join/complete.h"

#include "join/context-args.h"
#include "join/context-pool.h"
#include "join/merge.h"
#include "record/fields.h"

/*
 * The stamp of FORK is some 10 us behind the start that the kernel counts from, 1.6 ms at the worst
 * seen when quiet.
 */
#define FORK_PRECISION_NS (100 * NS_PER_USEC)
/* A birth further before the time in which it must lie is that of an earlier owner of the pid. */
#define FORK_EARLY_NS (2 * NS_PER_MSEC)
/* In a longer one, for we were held up, a pid may have had several owners, and which was born when is open. */
#define FORK_WINDOW_NS (10 * NS_PER_MSEC)

/*
 * With the birth on the monotonic clock and the elapsed time, both ends are known better than by
 * when they were read.
 */
static void refine_times(const struct joiner *j, struct process *p, int64_t start_ns)
{
	struct exeunt_record *r = &p->record;
	int64_t to_real = j->real_offset_ns, end_ns = start_ns + merge_elapsed_ns(p->elapsed_us);

	if (!(p->sources & BIT_TASKSTATS) || start_ns > p->start_high_ns ||
	    start_ns + FORK_EARLY_NS < p->start_low_ns ||
	    p->start_high_ns - p->start_low_ns > FORK_WINDOW_NS)
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

/* Whether the table knows when it began. */
static bool is_born(const struct context_entry *e)
{
	return e->flags & (CONTEXT_BORN | CONTEXT_READ);
}

/*
 * An entry that only an EXEC made may be of an earlier owner of the pid, who was killed and of
 * whose end nobody told. Who tells when it began settles that; to audit alone the executable has to
 * be the same.
 */
static bool is_of(const struct process *p, const struct context_entry *e)
{
	const struct exeunt_record *r = &p->record;

	if (is_born(e))
		return true;
	if (exeunt_has(r, EXEUNT_F_FORKED_NOT_EXECED) && r->forked_not_execed)
		return false;
	if (p->sources & (BIT_TASKSTATS | BIT_PACCT))
		return e->exec_ns + START_SLACK_NS >= p->start_low_ns;
	return e->exe && exeunt_has(r, EXEUNT_F_EXE_PATH) && r->exe_path.len == e->exe->len &&
	       !memcmp(r->exe_path.data, e->exe->parts[0].data, e->exe->len);
}

/*
 * The title is what is in place of the arguments now, at most 128 bytes of it; a process may have
 * changed it.
 */
static bool is_title_of(const struct exeunt_record *r, const struct pool_item *args)
{
	uint32_t n = r->n_args;

	if (n && r->args[n - 1].len == strlen(ARGS_CUT) &&
	    !memcmp(r->args[n - 1].data, ARGS_CUT, strlen(ARGS_CUT)))
		n--;
	if (!n || n > args->n_parts)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct exeunt_bytes *title = &r->args[i], *arg = &args->parts[i];

		if (title->len > arg->len || memcmp(title->data, arg->data, title->len))
			return false;
		if (title->len < arg->len && i + 1 < n)
			return false;
	}
	return true;
}

static void doubt(struct exeunt_record *r, enum exeunt_field field)
{
	if (exeunt_has(r, field))
		r->inherited[field / 64] |= UINT64_C(1) << (field % 64);
}

/*
 * What was given at exec is better than what was made of it; but that is the process's own, and
 * where nothing else says whose the entry is, it has to agree.
 */
static void take_entry(struct process *p, const struct context_entry *e)
{
	struct exeunt_record *r = &p->record;
	bool title = exeunt_has(r, EXEUNT_F_ARGS) && p->args_are_title;
	bool own = e->args && !(e->inherited & CONTEXT_ARGS);
	bool doubtful = !is_born(e) && p->sources == BIT_AUDIT &&
			!(title && e->args && is_title_of(r, e->args));

	if (title && own && !doubtful)
		field_clear(r, EXEUNT_F_ARGS);
	context_to_record(e, r);
	if (!doubtful)
		return;
	doubt(r, EXEUNT_F_CWD);
	if (!title)
		doubt(r, EXEUNT_F_ARGS);
}

static const struct context_entry *find(const struct joiner *j, const struct process *p)
{
	int64_t start_ns = p->start_high_ns ? p->start_high_ns : p->touched_ns;
	const struct context_entry *e =
		j->context ? context_lookup(j->context, p->tgid, start_ns) : NULL;

	/* the second case: the next owner of the pid */
	return !e || (!is_born(e) && e->exec_ns > p->touched_ns) ? NULL : e;
}

bool complete_lacks_program(const struct joiner *j, const struct process *p)
{
	const struct context_entry *e = find(j, p);

	if (p->sources == BIT_AUDIT ||
	    (exeunt_has(&p->record, EXEUNT_F_FORKED_NOT_EXECED) && p->record.forked_not_execed))
		return false;
	return e ? e->inherited & (CONTEXT_EXE | CONTEXT_ARGS) : !is_active(j, BIT_PROCEVENTS);
}

bool complete_may_be_told(const struct joiner *j, const struct process *p)
{
	const struct context_entry *e = find(j, p);

	return e && e->execs == 1 && complete_lacks_program(j, p);
}

void complete_from_context(struct joiner *j, struct process *p, int64_t now_ns)
{
	const struct context_entry *e = find(j, p);
	bool own = e && is_of(p, e);

	if (!j->context)
		return;
	if (e && e->flags & CONTEXT_BORN)
		refine_times(j, p, e->start_ns);
	if (own)
		take_entry(p, e);
	context_exe_by_inode(j->context, own ? e : NULL, &p->record);
	context_release(j->context, e, now_ns);
}
