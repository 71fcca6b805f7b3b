/* SPDX-License-Identifier: MIT */
/* How threads find their process, and when a process is whole. See join.h; the rules are in verdict.c and merge.c. */
#include "join/join.h"

#include "base/util.h"
#include "join/merge.h"
#include "join/table.h"
#include "record/fields.h"
#include "record/status.h"

/*
 * Companions of the last task trail it by 40 us, 2.7 ms under stress; the leader itself is often among them and is
 * worth waiting for, since it carries the name.
 */
#define GRACE_NS (25 * NS_PER_MSEC)
#define GRACE_LEADER_NS (500 * NS_PER_MSEC)
/* Closed processes are remembered for so long, so that a thread still later amends its own process. */
#define REMEMBER_NS (5 * NS_PER_SEC)
/* Whose threads ended that long ago and whose end was not told since, has lived on or its end was lost. */
#define SETTLED_NS NS_PER_SEC
/* Reading times are late by scheduling; starts estimated from them agree to within this. */
#define START_SLACK_NS (20 * NS_PER_MSEC)

struct joiner {
	struct join_options options;
	struct table *table;
	struct exeunt_balance *balance;
	int64_t deadline_ns; /* not later than the earliest in PROCESS_ENDING */
};

int join_new(struct joiner **ret, const struct join_options *o)
{
	struct joiner *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return -ENOMEM;
	j->options = *o;
	j->balance = ledger_balance(o->ledger);
	j->deadline_ns = INT64_MAX;
	r = table_new(&j->table, o->table_entries ? o->table_entries : JOIN_TABLE_ENTRIES);
	if (r < 0) {
		free(j);
		return r;
	}
	*ret = j;
	return 0;
}

void join_free(struct joiner *j)
{
	if (!j)
		return;
	table_free(j->table);
	free(j);
}

static void emit(struct joiner *j, struct exeunt_record *r, enum exeunt_type type)
{
	r->size = sizeof(*r);
	r->version = EXEUNT_RECORD_VERSION;
	r->type = (uint16_t)type;
	r->sources |= EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_TASKSTATS);
	field_set(r, EXEUNT_F_SOURCES);
	if (type == EXEUNT_TYPE_EXIT)
		j->balance->exits++;
	else if (type == EXEUNT_TYPE_AMEND)
		j->balance->amends++;
	j->options.emit(r, j->options.userdata);
}

static void mark_uncertain(struct exeunt_record *r)
{
	r->exit_certain = false;
	field_set(r, EXEUNT_F_EXIT_CERTAIN);
}

/* A process that had one thread when it ended, and never more: nothing to wait for. */
static void emit_single(struct joiner *j, const struct task_exit *t, const struct frame *f)
{
	struct exeunt_record r = { 0 };

	merge_cost(&r, t);
	merge_identity(&r, t, true);
	merge_times(&r, t, f);
	record_set_status(&r, t->exit_code);
	/* Before version 12 nothing tells the end of a process from that of a thread, and the sums are one thread's. */
	if (!(t->has & TASK_HAS_TGID))
		mark_uncertain(&r);
	emit(j, &r, EXEUNT_TYPE_EXIT);
}

static void emit_thread(struct joiner *j, const struct task_exit *t, const struct frame *f,
			const struct process *p)
{
	struct exeunt_record r = { 0 };

	if (p && exeunt_has(&p->record, EXEUNT_F_ENTITY_ID)) {
		r.entity_start_ns = p->record.entity_start_ns;
		field_set(&r, EXEUNT_F_ENTITY_ID);
	}
	merge_cost(&r, t);
	merge_identity(&r, t, t->pid == t->tgid);
	merge_times(&r, t, f);
	record_set_status(&r, t->exit_code);
	field_clear(&r, EXEUNT_F_THREADS);
	/* the times of a thread are its own */
	r.elapsed_us = t->etime_us;
	r.creation_time_ns = r.exit_time_ns - merge_elapsed_ns(t->etime_us);
	r.thread_id = t->pid;
	memcpy(r.thread_name, t->comm, sizeof(r.thread_name));
	field_set(&r, EXEUNT_F_THREAD_ID);
	field_set(&r, EXEUNT_F_THREAD_NAME);
	if (t->pid != t->tgid)
		field_clear(&r, EXEUNT_F_COMM);
	emit(j, &r, EXEUNT_TYPE_THREAD);
}

static void apply_verdict(struct process *p)
{
	uint32_t status;
	bool certain = verdict_decide(&p->verdict, &status);

	record_set_status(&p->record, status);
	field_clear(&p->record, EXEUNT_F_EXIT_CERTAIN);
	if (!certain)
		mark_uncertain(&p->record);
}

/* Puts the exit record out and remembers the process. */
static void close_process(struct joiner *j, struct process *p, int64_t now_ns)
{
	apply_verdict(p);
	emit(j, &p->record, EXEUNT_TYPE_EXIT);
	p->deadline_ns = now_ns + REMEMBER_NS;
	table_move(j->table, p, PROCESS_CLOSED);
}

/* The end was lost, and the process is gone: what its threads told is all there will be. */
static void close_unended(struct joiner *j, struct process *p, const struct frame *now)
{
	struct exeunt_record *r = &p->record;

	r->exit_time_ns = now->real_ns;
	r->exit_precision_ns = (uint64_t)MAX(now->mono_ns - p->touched_ns, 0);
	field_clear(r, EXEUNT_F_ELAPSED);
	r->backfilled = true;
	field_set(r, EXEUNT_F_BACKFILLED);
	j->balance->backfilled++;
	close_process(j, p, now->mono_ns);
}

/* Makes room: what is only remembered goes first, then what waits goes out early, then the oldest sums are lost. */
static bool make_room(struct joiner *j, const struct frame *f)
{
	struct process *p = table_oldest(j->table, PROCESS_CLOSED);
	struct exeunt_loss loss = {
		.source = EXEUNT_SOURCE_TASKSTATS,
		.cause = EXEUNT_LOSS_TABLE_FULL,
		.count = 1,
		.exact = true,
		.cpu = -1,
		.window_start_ns = f->real_ns,
		.window_end_ns = f->real_ns,
	};

	if (!p) {
		p = table_oldest(j->table, PROCESS_ENDING);
		if (p)
			close_process(j, p, f->mono_ns);
	}
	if (!p) {
		p = table_oldest(j->table, PROCESS_OPEN);
		if (p)
			ledger_lose(j->options.ledger, &loss);
	}
	if (p)
		table_remove(j->table, p);
	return p;
}

static struct process *add_process(struct joiner *j, const struct task_exit *t,
				   const struct frame *f)
{
	struct process *p = table_add(j->table, t->tgid);

	while (!p && make_room(j, f))
		p = table_add(j->table, t->tgid);
	if (!p)
		return NULL;
	p->start_low_ns = f->since_ns - merge_elapsed_ns(t->tgetime_us);
	p->start_high_ns = f->mono_ns - merge_elapsed_ns(t->tgetime_us);
	return p;
}

/* Each record narrows the time in which the leader can have begun. */
static void narrow_start(struct process *p, int64_t low_ns, int64_t high_ns)
{
	low_ns = MAX(low_ns, p->start_low_ns);
	high_ns = MIN(high_ns, p->start_high_ns);
	if (low_ns <= high_ns) {
		p->start_low_ns = low_ns;
		p->start_high_ns = high_ns;
	}
}

/*
 * After an exec by a worker there are two leaders, the old one that fell to it and the new; they may be read in either
 * order, and the later one by the kernel's clock has the name.
 */
static bool is_namesake(struct process *p, const struct task_exit *t)
{
	if (t->pid != t->tgid || (p->verdict.leaders && t->tgetime_us < p->leader_at_us))
		return false;
	p->leader_at_us = t->tgetime_us;
	return true;
}

static void add_task(struct joiner *j, struct process *p, const struct task_exit *t,
		     const struct frame *f)
{
	bool leader = t->pid == t->tgid, last = t->flag & TASK_GROUP;

	narrow_start(p, f->since_ns - merge_elapsed_ns(t->tgetime_us),
		     f->mono_ns - merge_elapsed_ns(t->tgetime_us));
	merge_cost(&p->record, t);
	merge_identity(&p->record, t, is_namesake(p, t));
	if (last || !p->verdict.last.seen)
		merge_times(&p->record, t, f);
	verdict_add(&p->verdict, t);
	p->touched_ns = f->mono_ns;
	if (p->state == PROCESS_CLOSED) {
		apply_verdict(p);
		emit(j, &p->record, EXEUNT_TYPE_AMEND);
		return;
	}
	if (last || (leader && p->state == PROCESS_ENDING)) {
		p->deadline_ns = f->mono_ns + (p->verdict.leaders ? GRACE_NS : GRACE_LEADER_NS);
		j->deadline_ns = MIN(j->deadline_ns, p->deadline_ns);
	}
	if (last || p->state == PROCESS_OPEN)
		table_move(j->table, p, p->verdict.last.seen ? PROCESS_ENDING : PROCESS_OPEN);
}

static bool is_single(const struct task_exit *t)
{
	if (!(t->has & TASK_HAS_TGID))
		return true; /* a guess that emit_single() marks */
	return (t->flag & TASK_GROUP) && !(t->has & TASK_HAS_AGGREGATE);
}

/* Two last tasks are two processes, however close their starts look. */
static struct process *find_process(const struct joiner *j, const struct task_exit *t,
				    const struct frame *f)
{
	int64_t elapsed_ns = merge_elapsed_ns(t->tgetime_us);
	struct process *p;

	if (!(t->has & TASK_HAS_TGID))
		return NULL;
	p = table_find(j->table, t->tgid, f->since_ns - elapsed_ns, f->mono_ns - elapsed_ns,
		       START_SLACK_NS);
	return p && (t->flag & TASK_GROUP) && p->verdict.last.seen ? NULL : p;
}

void join_task(struct joiner *j, const struct task_exit *task, const struct frame *f)
{
	bool single = is_single(task);
	struct process *p = find_process(j, task, f), *stale;

	j->balance->threads_seen++;
	stale = table_find_stale(j->table, task->tgid, p);
	if (stale && stale->start_high_ns < f->since_ns - merge_elapsed_ns(task->tgetime_us))
		close_unended(j, stale, f);
	if (!p && single) {
		emit_single(j, task, f);
		return;
	}
	if (!p)
		p = add_process(j, task, f);
	if (p)
		add_task(j, p, task, f);
	else
		emit_single(j, task,
			    f); /* no memory at all: the record as it is, rather than none */
	if (j->options.threads)
		emit_thread(j, task, f, p);
}

static void forget_closed(struct joiner *j, int64_t horizon_ns)
{
	struct process *p;

	while ((p = table_oldest(j->table, PROCESS_CLOSED)) && p->deadline_ns <= horizon_ns)
		table_remove(j->table, p);
}

void join_advance(struct joiner *j, int64_t horizon_ns)
{
	struct process *p, *next;

	forget_closed(j, horizon_ns);
	if (horizon_ns < j->deadline_ns)
		return;
	j->deadline_ns = INT64_MAX;
	for (p = table_oldest(j->table, PROCESS_ENDING); p; p = next) {
		next = table_next(j->table, p);
		if (p->deadline_ns <= horizon_ns)
			close_process(j, p, horizon_ns);
		else
			j->deadline_ns = MIN(j->deadline_ns, p->deadline_ns);
	}
}

int64_t join_deadline(const struct joiner *j)
{
	return j->deadline_ns;
}

bool join_sweep(struct joiner *j, bool (*is_alive)(int32_t tgid), const struct frame *now)
{
	struct process *p, *next;
	bool young = false;

	for (p = table_oldest(j->table, PROCESS_OPEN); p; p = next) {
		next = table_next(j->table, p);
		if (p->touched_ns + SETTLED_NS > now->mono_ns)
			young = true;
		else if (!is_alive(p->tgid))
			close_unended(j, p, now);
	}
	return young;
}

void join_flush(struct joiner *j)
{
	struct process *p;

	while ((p = table_oldest(j->table, PROCESS_ENDING)))
		close_process(j, p, p->touched_ns);
}

void join_count(const struct joiner *j, struct exeunt_balance *balance)
{
	balance->pending = table_count(j->table, PROCESS_ENDING);
	balance->unfinished = table_count(j->table, PROCESS_OPEN);
}
