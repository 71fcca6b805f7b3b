/* SPDX-License-Identifier: MIT */
/* How a task record finds its process. The rules for status and sums are in verdict.c and merge.c. */
#include "join/joiner.h"

#include "join/merge.h"
#include "record/fields.h"
#include "record/status.h"

/* A process that had one thread when it ended, and never more, and no other source to wait for. */
static void emit_single(struct joiner *j, const struct task_exit *t, const struct frame *f)
{
	struct exeunt_record r = { .sources = BIT_TASKSTATS };
	struct merge_ticks ticks = { 0 };

	merge_cost(&r, &ticks, t);
	merge_identity(&r, t, true);
	merge_times(&r, t, f);
	record_set_status(&r, t->exit_code);
	/* Before version 12 nothing tells the end of a process from that of a thread, and the sums are one thread's. */
	if (!(t->has & TASK_HAS_TGID))
		joiner_mark_uncertain(&r);
	joiner_emit(j, &r, EXEUNT_TYPE_EXIT);
}

static void emit_thread(struct joiner *j, const struct task_exit *t, const struct frame *f,
			const struct process *p)
{
	struct exeunt_record r = { .sources = BIT_TASKSTATS };
	struct merge_ticks ticks = { 0 };

	if (p && exeunt_has(&p->record, EXEUNT_F_ENTITY_ID)) {
		r.entity_start_ns = p->record.entity_start_ns;
		field_set(&r, EXEUNT_F_ENTITY_ID);
	}
	merge_cost(&r, &ticks, t);
	merge_identity(&r, t, t->pid == t->tgid);
	merge_times(&r, t, f);
	record_set_status(&r, t->exit_code);
	field_clear(&r, EXEUNT_F_THREADS);
	/* the times of a thread are its own */
	r.elapsed_us = t->etime_us;
	r.creation_time_ns = r.exit_time_ns - merge_elapsed_ns(t->etime_us);
	r.thread_id = t->pid;
	memcpy(r.thread_name, t->comm, sizeof(t->comm));
	field_set(&r, EXEUNT_F_THREAD_ID);
	field_set(&r, EXEUNT_F_THREAD_NAME);
	if (t->pid != t->tgid)
		field_clear(&r, EXEUNT_F_COMM);
	joiner_emit(j, &r, EXEUNT_TYPE_THREAD);
}

/* Each record narrows the time in which the leader can have begun. */
static void narrow_start(struct process *p, int64_t low_ns, int64_t high_ns)
{
	if (!p->start_high_ns) {
		p->start_low_ns = low_ns;
		p->start_high_ns = high_ns;
	}
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
	if (t->pid != t->tgid)
		return false;
	if (p->verdict.leaders && t->tgetime_us < p->leader_at_us)
		return false;
	p->leader_at_us = t->tgetime_us;
	return true;
}

static uint64_t elapsed_us(const struct task_exit *t)
{
	return t->has & TASK_HAS_TGID ? t->tgetime_us : t->etime_us;
}

static void set_end(struct process *p, const struct task_exit *t)
{
	p->elapsed_us = elapsed_us(t);
	p->exit_second = t->btime + t->etime_us / 1000000;
}

static void end_process(struct joiner *j, struct process *p, const struct task_exit *t,
			const struct frame *f)
{
	p->sources |= BIT_TASKSTATS;
	set_end(p, t);
	p->deadline_ns = p->single ? f->mono_ns
				   : f->mono_ns + (p->verdict.leaders ? GRACE_NS : GRACE_LEADER_NS);
	j->deadline_ns = MIN(j->deadline_ns, p->deadline_ns);
	table_move(j->table, p, PROCESS_ENDING);
}

static void add_task(struct joiner *j, struct process *p, const struct task_exit *t,
		     const struct frame *f)
{
	bool last = t->flag & TASK_GROUP;
	int64_t elapsed_ns = merge_elapsed_ns(elapsed_us(t));

	narrow_start(p, f->since_ns - elapsed_ns, f->mono_ns - elapsed_ns);
	merge_cost(&p->record, &p->ticks, t);
	merge_identity(&p->record, t, is_namesake(p, t));
	if (last || !p->verdict.last.seen)
		merge_times(&p->record, t, f);
	verdict_add(&p->verdict, t);
	p->touched_ns = f->mono_ns;
	if (last && p->state != PROCESS_CLOSED) {
		end_process(j, p, t, f);
		joiner_take_alone(j, p);
	} else if (t->pid == t->tgid && p->state == PROCESS_ENDING) {
		p->deadline_ns = f->mono_ns + GRACE_NS;
		j->deadline_ns = MIN(j->deadline_ns, p->deadline_ns);
	} else if (p->state == PROCESS_OPEN) {
		table_move(j->table, p, PROCESS_OPEN);
	}
	joiner_update(j, p, f->mono_ns);
}

static bool is_single(const struct task_exit *t)
{
	if (!(t->has & TASK_HAS_TGID))
		return true; /* a guess that is marked, or that accounting confirms */
	return (t->flag & TASK_GROUP) && !(t->has & TASK_HAS_AGGREGATE);
}

/*
 * Others told of its end, and taskstats seemed to have lost it. A record that comes now may be of that end, which was only
 * late, or of the next process that has the pid.
 */
static bool is_told_end(const struct process *told, const struct task_exit *t,
			const struct frame *f)
{
	struct process p = { .single = is_single(t) };

	/* taskstats' record is queued before accounting's is written, and this one was queued after that had been read */
	if ((told->sources & BIT_PACCT) && f->since_ns >= told->touched_ns)
		return false;
	if (exeunt_has(&told->record, EXEUNT_F_UID) && told->record.uid != t->uid)
		return false;
	if (!(t->flag & TASK_GROUP))
		return true;
	verdict_add(&p.verdict, t);
	merge_identity(&p.record, t, true);
	merge_times(&p.record, t, f);
	set_end(&p, t);
	return joiner_told_fits(&p, told);
}

/* Two last tasks are two processes, however close their starts look. */
static bool is_of(const struct process *p, const struct task_exit *t, const struct frame *f)
{
	int64_t elapsed_ns = merge_elapsed_ns(t->tgetime_us);
	int64_t low_ns = f->since_ns - elapsed_ns, high_ns = f->mono_ns - elapsed_ns;

	if (p->state == PROCESS_ALONE || p->state == PROCESS_HINT ||
	    ((t->flag & TASK_GROUP) && p->verdict.last.seen))
		return false;
	if (p->start_low_ns - START_SLACK_NS > high_ns ||
	    low_ns - START_SLACK_NS > p->start_high_ns)
		return false;
	return !p->sources || (p->sources & BIT_TASKSTATS) || is_told_end(p, t, f);
}

static struct process *find_process(const struct joiner *j, const struct task_exit *t,
				    const struct frame *f)
{
	if (!(t->has & TASK_HAS_TGID))
		return NULL;
	for (struct process *p = table_first(j->table, t->tgid); p; p = table_following(p))
		if (is_of(p, t, f))
			return p;
	return NULL;
}

/* A process that began later shows that an older one of the same pid is gone, though its end was never told. */
static void close_stale(struct joiner *j, const struct task_exit *t, const struct process *not_this,
			const struct frame *f)
{
	int64_t start_ns = f->since_ns - merge_elapsed_ns(t->tgetime_us);

	for (struct process *p = table_first(j->table, t->tgid); p; p = table_following(p)) {
		if (p->state != PROCESS_OPEN || p == not_this || p->start_high_ns >= start_ns)
			continue;
		joiner_close_unended(j, p, f);
		return;
	}
}

static void take_task(struct joiner *j, const struct task_exit *task, const struct frame *f,
		      bool guess)
{
	bool single = is_single(task);
	struct process *p = find_process(j, task, f);

	close_stale(j, task, p, f);
	if (!p && single && j->active == BIT_TASKSTATS) {
		emit_single(j, task, f);
		return;
	}
	if (!p)
		p = joiner_add(j, task->tgid, f);
	if (!p) {
		emit_single(j, task,
			    f); /* no memory at all: the record as it is, rather than none */
		return;
	}
	p->guess = guess;
	if (single && !exeunt_has(&p->record, EXEUNT_F_THREADS))
		p->single = true;
	/* add_task() may put the process out and let it go; the thread's record names it first */
	if (j->options.threads && !single)
		emit_thread(j, task, f, p);
	add_task(j, p, task, f);
}

void join_task(struct joiner *j, const struct task_exit *task, const struct frame *f)
{
	struct task_exit guess;

	j->real_offset_ns = f->real_ns - f->mono_ns;
	j->balance->threads_seen++;
	if (likely(task->has & TASK_HAS_TGID)) {
		take_task(j, task, f, false);
		return;
	}
	/* before version 12 each task may be a process, and is taken for one until accounting knows better */
	guess = *task;
	guess.flag |= TASK_GROUP;
	if (!guess.tgid)
		guess.tgid = guess.pid;
	take_task(j, &guess, f, true);
}
