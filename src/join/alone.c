/* SPDX-License-Identifier: MIT */
/*
 * What another source told of and the leading one did not: it becomes part of a process whose end is told later, an exit of
 * its own where the leading source lost something about then, and is counted otherwise. See joiner.h.
 */
#include "join/joiner.h"

#include "record/fields.h"
#include "record/fill.h"
#include "record/status.h"

/* What stands alone though nothing was lost: the loss may not have been noticed yet. */
#define ALONE_NS (2 * NS_PER_SEC)
/* Accounting that was last read to its end so long ago; much longer, and it never will be. */
#define BEHIND_NS (500 * NS_PER_MSEC)
#define BEHIND_MOST_NS (60 * NS_PER_SEC)
/* What calls exit_group(2) may have to wait for a CPU before it ends. */
#define AHEAD_NS (500 * NS_PER_MSEC)

void joiner_promote_alone(struct joiner *j)
{
	struct process *p, *next;

	for (p = table_oldest(j->table, PROCESS_ALONE); p; p = next) {
		next = table_next(j->table, p);
		if (p->sources & EXEUNT_SOURCE_BIT(joiner_leading(j)))
			table_move(j->table, p, PROCESS_ENDING);
	}
}

/* Moves what `alone` has into `p`, and removes it. */
static void merge(struct joiner *j, struct process *p, struct process *alone)
{
	if (alone->sources & BIT_PACCT)
		p->pacct = alone->pacct;
	if (alone->sources & BIT_AUDIT)
		joiner_take_told(p, alone, true);
	p->sources |= alone->sources;
	if (exeunt_has(&alone->record, EXEUNT_F_TTY) && alone->record.tty.data == alone->tty) {
		memcpy(p->tty, alone->tty, sizeof(p->tty));
		alone->record.tty.data = p->tty;
	}
	record_fill(&p->record, &alone->record);
	table_remove(j->table, alone);
}

bool joiner_told_fits(const struct process *p, const struct process *told)
{
	if ((told->sources & BIT_PACCT) && !joiner_pacct_fits(p, &told->pacct))
		return false;
	return !(told->sources & BIT_AUDIT) || joiner_audit_fits(p, told);
}

static bool belongs(const struct process *p, const struct process *alone)
{
	return alone->state == PROCESS_ALONE && !(p->sources & alone->sources) &&
	       joiner_told_fits(p, alone);
}

void joiner_take_alone(struct joiner *j, struct process *p)
{
	struct process *oldest;

	do {
		oldest = NULL;
		for (struct process *a = table_first(j->table, p->tgid); a; a = table_following(a))
			if (a != p && belongs(p, a))
				oldest = a;
		if (oldest)
			merge(j, p, oldest);
	} while (oldest);
	joiner_take_hint(j, p);
}

/* A process of which only threads were seen, and another source knows the end. */
static struct process *find_open(const struct joiner *j, const struct process *alone)
{
	for (struct process *p = table_first(j->table, alone->tgid); p; p = table_following(p))
		if (p->state == PROCESS_OPEN && p->touched_ns <= alone->touched_ns)
			return p;
	return NULL;
}

static bool was_lost(const struct joiner *j, const struct process *p)
{
	return ledger_is_lost(j->options.ledger, p->record.exit_time_ns) &&
	       !joiner_may_be_forgotten(j, p->tgid, p->record.exit_time_ns);
}

/* Accounting and audit know the whole process; taskstats told of some of its threads only, and adds what they lack. */
static void backfill(struct joiner *j, struct process *alone, int64_t now_ns)
{
	struct process *open = find_open(j, alone);

	if (open) {
		alone->verdict = open->verdict;
		if (open->verdict.killed.seen)
			record_set_status(&alone->record, open->verdict.killed.code);
		record_fill(&alone->record, &open->record);
		alone->record.sources = alone->sources;
		table_remove(j->table, open);
	}
	alone->single = true;
	joiner_mark_backfilled(j, alone);
	table_move(j->table, alone, PROCESS_ENDING);
	joiner_close(j, alone, now_ns);
}

/* Audit is not waited for before it is known to tell of ends; so it was put out without it. */
static bool is_from_before(const struct joiner *j, const struct process *p)
{
	return p->sources == BIT_AUDIT && p->start_high_ns <= j->awaited_since_ns;
}

/* Audit tells of an end before the leading source does, whose word may not come any more when it is our own end. */
static bool is_untimely(const struct joiner *j, const struct process *p)
{
	return is_from_before(j, p) || (p->sources == BIT_AUDIT &&
					p->touched_ns + AHEAD_NS > j->horizon[joiner_leading(j)]);
}

/*
 * Who waits for room in audit's queue behind the first of the records of its end, has not ended yet (kernel/audit.c:
 * audit_log_start()); how long such waits are now shows.
 */
static int64_t patience(const struct joiner *j, const struct process *p)
{
	if (p->sources != BIT_AUDIT || is_from_before(j, p))
		return ALONE_NS;
	return ALONE_NS + 4 * joiner_audit_delay(j);
}

bool joiner_backfill_early(struct joiner *j, struct process *p, int64_t now_ns)
{
	if (p->touched_ns >= j->horizon[joiner_leading(j)] || !was_lost(j, p))
		return false;
	backfill(j, p, now_ns);
	return true;
}

bool join_is_behind(const struct joiner *j, int64_t mono_ns)
{
	int64_t behind_ns = mono_ns - j->horizon[EXEUNT_SOURCE_PACCT];

	return is_active(j, BIT_PACCT) && behind_ns > BEHIND_NS && behind_ns < BEHIND_MOST_NS;
}

bool join_is_crowded(const struct joiner *j)
{
	return table_count(j->table, PROCESS_ALONE) > table_most(j->table) / 4;
}

/* What stood alone since before seen_ns, when all queues of the leading source had been read. */
static void judge_alone(struct joiner *j, struct process *p, int64_t now_ns, bool last)
{
	if (was_lost(j, p)) {
		backfill(j, p, now_ns);
	} else if (!last && p->touched_ns + patience(j, p) >= now_ns) {
		return;
	} else if ((p->sources & BIT_PACCT) && p->exit_second <= j->since_second) {
		table_move(j->table, p, PROCESS_ENDING); /* in the second in which we began */
		joiner_close(j, p, now_ns);
	} else {
		j->balance->unmatched += !is_untimely(j, p);
		table_remove(j->table, p);
	}
}

void joiner_judge_all_alone(struct joiner *j)
{
	struct process *p;

	while ((p = table_oldest(j->table, PROCESS_ALONE)))
		judge_alone(j, p, p->touched_ns, true);
	joiner_forget_hints(j, INT64_MAX);
}

void joiner_judge_accounted(struct joiner *j, int64_t before_ns)
{
	struct process *p, *next;

	for (p = table_oldest(j->table, PROCESS_ALONE); p && p->touched_ns <= before_ns; p = next) {
		next = table_next(j->table, p);
		if (p->sources & BIT_PACCT)
			judge_alone(j, p, before_ns, true);
	}
}

void join_checked(struct joiner *j, int64_t mono_ns)
{
	int64_t seen_ns = MIN(j->horizon[joiner_leading(j)], mono_ns);
	struct process *p, *next;

	joiner_tell_evicted(j);
	joiner_forget_hints(j, mono_ns);
	for (p = table_oldest(j->table, PROCESS_ALONE); p && p->touched_ns < seen_ns; p = next) {
		next = table_next(j->table, p);
		judge_alone(j, p, mono_ns, false);
	}
}
