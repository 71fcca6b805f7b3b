/* SPDX-License-Identifier: MIT */
/*
 * How an accounting record finds its process. Within each source the ends of one pid come in the order in which they
 * happened, so the oldest that fits is taken; what has to fit is what both kernels' code paths take from the same place.
 */
#include "join/joiner.h"

#include "decode/pacct_record.h"
#include "record/fields.h"
#include "record/fill.h"

/*
 * Both tell the start as floor(now) less whole seconds of elapsed time, so start and elapsed give the second of the end.
 * pacct is written behind exit_mm(), which may take its time; and a clock may step in between.
 */
#define SECOND_EARLY 1
#define SECOND_LATE 60
/* Elapsed time in ticks of 10 ms, cut; taken later than taskstats' by as much. */
#define TICK_US UINT64_C(10000)

bool joiner_pacct_fits(const struct process *p, const struct pacct_exit *e)
{
	uint64_t second = (uint64_t)e->btime_s + e->etime_us / 1000000;
	uint64_t coarse_us = TICK_US + e->etime_precision_ns / 1000;

	if ((e->present & PACCT_HAS_UID) && (e->uid != p->record.uid || e->gid != p->record.gid))
		return false;
	if (second + SECOND_EARLY < p->exit_second || second > p->exit_second + SECOND_LATE)
		return false;
	if (e->etime_us + coarse_us < p->elapsed_us ||
	    e->etime_us > p->elapsed_us + SECOND_LATE * UINT64_C(1000000))
		return false;
	/* the leader's own code, which is the process's where it had no other thread */
	if (p->single && (e->present & PACCT_HAS_STATUS) && e->status != p->verdict.last.code)
		return false;
	return true;
}

/* A process whose end taskstats told, and accounting not yet; the oldest of them. */
static struct process *find_process(const struct joiner *j, const struct pacct_exit *e)
{
	struct process *oldest = NULL;

	for (struct process *p = table_first(j->table, (int32_t)e->pid); p; p = table_following(p))
		if ((p->sources & (BIT_TASKSTATS | BIT_PACCT)) == BIT_TASKSTATS &&
		    joiner_pacct_fits(p, e))
			oldest = p;
	return oldest;
}

/* One that audit told of, and nobody else yet. Its time is finer than ours, so it is held against that alone. */
static struct process *find_audited(const struct joiner *j, const struct pacct_exit *e,
				    const struct exeunt_record *r)
{
	struct process *oldest = NULL;

	for (struct process *p = table_first(j->table, (int32_t)e->pid); p;
	     p = table_following(p)) {
		int64_t late_ns = r->exit_time_ns - p->audit_ns;

		if (p->sources != BIT_AUDIT ||
		    (exeunt_has(&p->record, EXEUNT_F_UID) && p->record.uid != e->uid))
			continue;
		if (late_ns < 2 * NS_PER_SEC && late_ns > -2 * NS_PER_SEC)
			oldest = p;
	}
	return oldest;
}

/* When the record was read bounds the end better than its whole second does, unless we were held up. */
static void refine_exit(struct exeunt_record *r, const struct frame *f)
{
	int64_t window = f->mono_ns - f->since_ns, second = r->exit_time_ns;

	if (!exeunt_has(r, EXEUNT_F_EXIT_TIME) || f->since_ns <= 0 || window < 0 ||
	    window > NS_PER_SEC)
		return;
	if (f->real_ns < second || f->real_ns - window > second + NS_PER_SEC)
		return;
	r->exit_time_ns = f->real_ns;
	r->exit_precision_ns = (uint64_t)window;
	if (exeunt_has(r, EXEUNT_F_ELAPSED)) {
		r->creation_time_ns = r->exit_time_ns - merge_elapsed_ns(r->elapsed_us);
		r->creation_precision_ns = (uint64_t)window + TICK_US * 1000;
	}
}

static void take_strings(struct process *p, const struct pacct_exit *e, struct exeunt_record *r)
{
	p->pacct = *e;
	p->sources |= BIT_PACCT;
	r->sources = 0;
	if (!exeunt_has(r, EXEUNT_F_TTY))
		return;
	memcpy(p->tty, e->tty_text, sizeof(e->tty_text));
	r->tty.data = p->tty;
}

/* Accounting leads, or stands alone: the record is its own. */
static void add_process(struct joiner *j, const struct pacct_exit *e, struct exeunt_record *r,
			const struct frame *f)
{
	struct process *p;

	if (is_active(j, BIT_TASKSTATS) &&
	    joiner_may_be_forgotten(j, (int32_t)e->pid, r->exit_time_ns)) {
		j->balance->unmatched++;
		return;
	}
	p = joiner_add(j, (int32_t)e->pid, f);
	if (!p) {
		joiner_emit(j, r, EXEUNT_TYPE_EXIT);
		return;
	}
	take_strings(p, e, r);
	field_clear(r, EXEUNT_F_SOURCES);
	p->record = *r;
	p->single = true;
	p->elapsed_us = e->etime_us;
	p->exit_second = (uint64_t)e->btime_s + e->etime_us / 1000000;
	p->start_high_ns = f->mono_ns - merge_elapsed_ns(e->etime_us);
	p->start_low_ns = p->start_high_ns - NS_PER_SEC;
	if (is_active(j, BIT_TASKSTATS)) {
		table_move(j->table, p, PROCESS_ALONE);
		return;
	}
	table_move(j->table, p, PROCESS_ENDING);
	joiner_take_alone(j, p);
	joiner_update(j, p, f->mono_ns);
}

/* Accounting that was read on from where an earlier run had come to. */
static bool is_from_before(const struct joiner *j, const struct pacct_exit *e)
{
	return is_active(j, BIT_TASKSTATS) &&
	       (uint64_t)e->btime_s + e->etime_us / 1000000 < j->since_second;
}

void join_pacct(struct joiner *j, const struct pacct_exit *e, const struct frame *f)
{
	struct exeunt_record r;
	struct process *p;

	if (e->phantom)
		return; /* nothing ended */
	pacct_to_record(e, &r);
	refine_exit(&r, f);
	if (j->active == BIT_PACCT || is_from_before(j, e)) {
		joiner_emit(j, &r, EXEUNT_TYPE_EXIT);
		return;
	}
	if (!(e->present & PACCT_HAS_PID)) {
		j->balance->unmatched++; /* before version 3 it does not say who */
		return;
	}
	p = is_active(j, BIT_TASKSTATS) ? find_process(j, e) : NULL;
	if (!p)
		p = find_audited(j, e, &r);
	if (!p) {
		add_process(j, e, &r, f);
		return;
	}
	take_strings(p, e, &r);
	field_clear(&r, EXEUNT_F_SOURCES);
	record_fill(&p->record, &r);
	joiner_update(j, p, f->mono_ns);
}
