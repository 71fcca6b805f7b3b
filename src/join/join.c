/* SPDX-License-Identifier: MIT */
/* When a process is whole, and how it goes out. See join.h. */
#include "join/joiner.h"

#include "join/complete.h"
#include "record/fields.h"
#include "record/status.h"

/*
 * How long after the last task's record accounting may take, which is written behind exit_mm(), when it is not held up; for
 * audit see behind.c. Later ones amend.
 */
#define PACCT_WAIT_NS (20 * NS_PER_MSEC)
/* A source that does not even say that it has nothing is not waited for any longer. */
#define AWAIT_MOST_NS NS_PER_SEC

int join_new(struct joiner **ret, const struct join_options *o)
{
	struct joiner *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return -ENOMEM;
	j->options = *o;
	j->balance = ledger_balance(o->ledger);
	j->deadline_ns = INT64_MAX;
	j->active = BIT_TASKSTATS;
	r = table_new(&j->table, o->table_entries ? MIN(o->table_entries, JOIN_TABLE_MOST)
						  : JOIN_TABLE_ENTRIES);
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

void join_set_sources(struct joiner *j, uint32_t active, uint32_t awaited)
{
	enum exeunt_source led = joiner_leading(j);
	uint32_t before = j->active;

	if (!(j->awaited & BIT_AUDIT))
		j->awaited_since_ns = j->horizon[joiner_leading(j)];
	j->active = active;
	j->awaited = awaited & active;
	ledger_set_leading(j->options.ledger, joiner_leading(j));
	for (int s = 0; s < EXEUNT_SOURCE_COUNT; s++) {
		/* one that stopped has told all that it will ever tell */
		if (before & ~active & EXEUNT_SOURCE_BIT(s))
			j->horizon[s] = INT64_MAX;
		else if (active & ~before & EXEUNT_SOURCE_BIT(s))
			j->horizon[s] = 0;
	}
	if (joiner_leading(j) != led)
		joiner_promote_alone(j);
}

void join_set_since(struct joiner *j, int64_t real_ns)
{
	j->since_second = (uint64_t)(MAX(real_ns, 0) / NS_PER_SEC);
}

void join_set_told(struct joiner *j, bool told)
{
	j->told = told;
}

void join_set_context(struct joiner *j, struct context *context)
{
	j->context = context;
}

static void show_marks(struct exeunt_record *r)
{
	uint64_t any = 0;

	for (int word = 0; word < EXEUNT_PRESENT_WORDS; word++)
		any |= r->inherited[word];
	if (any)
		field_set(r, EXEUNT_F_INHERITED);
	else
		field_clear(r, EXEUNT_F_INHERITED);
}

void joiner_emit(struct joiner *j, struct exeunt_record *r, enum exeunt_type type)
{
	r->size = sizeof(*r);
	r->version = EXEUNT_RECORD_VERSION;
	r->type = (uint16_t)type;
	field_set(r, EXEUNT_F_SOURCES);
	show_marks(r);
	if (type == EXEUNT_TYPE_EXIT)
		j->balance->exits++;
	else if (type == EXEUNT_TYPE_AMEND)
		j->balance->amends++;
	j->options.emit(r, j->options.userdata);
}

void joiner_mark_uncertain(struct exeunt_record *r)
{
	r->exit_certain = false;
	field_set(r, EXEUNT_F_EXIT_CERTAIN);
}

static void apply_verdict(struct process *p)
{
	uint32_t status;
	bool certain;

	if (!(p->sources & BIT_TASKSTATS))
		return; /* the status is that of the source which told */
	certain = verdict_decide(&p->verdict, &status);
	record_set_status(&p->record, status);
	field_clear(&p->record, EXEUNT_F_EXIT_CERTAIN);
	if (!certain || (p->guess && !(p->sources & BIT_PACCT)))
		joiner_mark_uncertain(&p->record);
}

static void note_missing(const struct joiner *j, struct process *p)
{
	struct exeunt_record *r = &p->record;
	uint32_t should = j->awaited & BIT_PACCT;

	if (p->backfilled)
		should |= j->active & BIT_TASKSTATS;
	r->sources = p->sources;
	r->missing = should & ~p->sources;
	if (r->missing)
		field_set(r, EXEUNT_F_MISSING);
	else
		field_clear(r, EXEUNT_F_MISSING);
}

/* Is there anything left that could still come for it? */
static bool may_be_amended(const struct joiner *j, const struct process *p)
{
	return !p->single || p->lacks_program || (j->awaited & ~p->sources);
}

/* A kernel thread has no executable, and audit never tells of one. */
static void note_untold(struct joiner *j, struct process *p)
{
	bool untold = is_active(j, BIT_AUDIT) && !(p->sources & BIT_AUDIT) &&
		      exeunt_has(&p->record, EXEUNT_F_EXE_INODE) &&
		      exeunt_has(&p->record, EXEUNT_F_EXIT_CODE);

	if (untold == p->untold)
		return;
	j->untold += untold ? 1 : UINT64_MAX;
	p->untold = untold;
}

uint64_t join_untold(const struct joiner *j)
{
	return j->untold;
}

void joiner_close(struct joiner *j, struct process *p, int64_t now_ns)
{
	if (p->guess && (j->awaited & ~p->sources & BIT_PACCT)) {
		table_remove(j->table,
			     p); /* accounting knows of no such process: it was a thread */
		return;
	}
	apply_verdict(p);
	note_missing(j, p);
	note_untold(j, p);
	p->lacks_program = j->told && complete_may_be_told(j, p);
	complete_from_context(j, p, now_ns);
	joiner_emit(j, &p->record, EXEUNT_TYPE_EXIT);
	if (!may_be_amended(j, p)) {
		table_remove(j->table, p);
		return;
	}
	joiner_remember(j, p, now_ns);
}

void joiner_mark_backfilled(struct joiner *j, struct process *p)
{
	p->backfilled = p->record.backfilled = true;
	field_set(&p->record, EXEUNT_F_BACKFILLED);
	ledger_backfill(j->options.ledger, p->record.exit_time_ns);
}

void joiner_close_unended(struct joiner *j, struct process *p, const struct frame *now)
{
	struct exeunt_record *r = &p->record;

	if (!p->sources) {
		/* only threads were seen: it ended between then and now */
		r->exit_time_ns = now->real_ns;
		r->exit_precision_ns = (uint64_t)MAX(now->mono_ns - p->touched_ns, 0);
		field_clear(r, EXEUNT_F_ELAPSED);
		p->sources = BIT_TASKSTATS;
	}
	joiner_mark_backfilled(j, p);
	joiner_close(j, p, now->mono_ns);
}

/* Neither its record of the end, nor, if it tells of executions, that of one that nobody else told enough of. */
static bool lacks_audit(const struct joiner *j, const struct process *p)
{
	return (j->awaited & ~p->sources & BIT_AUDIT) ||
	       (j->told && is_active(j, BIT_AUDIT) && complete_lacks_program(j, p));
}

bool joiner_is_whole(const struct joiner *j, const struct process *p, int64_t now_ns)
{
	int64_t horizon = j->horizon[EXEUNT_SOURCE_TASKSTATS], wait_ns = joiner_audit_wait(j);

	if (!p->single && (horizon < p->deadline_ns))
		return false;
	if (j->horizon[EXEUNT_SOURCE_AUDIT] < p->touched_ns + wait_ns &&
	    now_ns < p->touched_ns + wait_ns + AWAIT_MOST_NS && lacks_audit(j, p))
		return false;
	if (now_ns >= p->touched_ns + AWAIT_MOST_NS)
		return true;
	if ((j->awaited & ~p->sources & BIT_PACCT) &&
	    j->horizon[EXEUNT_SOURCE_PACCT] < p->touched_ns + PACCT_WAIT_NS)
		return false;
	return !is_active(j, BIT_PROCEVENTS) ||
	       j->horizon[EXEUNT_SOURCE_PROCEVENTS] >= p->touched_ns;
}

/* A copy goes out: what is added to it on the way, such as names, need not live longer than that. */
static void amend(struct joiner *j, struct process *p)
{
	struct exeunt_record r;

	apply_verdict(p);
	note_missing(j, p);
	note_untold(j, p);
	r = p->record;
	joiner_emit(j, &r, EXEUNT_TYPE_AMEND);
}

void joiner_update(struct joiner *j, struct process *p, int64_t now_ns)
{
	if (p->state == PROCESS_CLOSED) {
		amend(j, p);
		if (!may_be_amended(j, p))
			table_remove(j->table, p);
	} else if ((p->state == PROCESS_ENDING || p->state == PROCESS_BEHIND) &&
		   joiner_is_whole(j, p, now_ns)) {
		joiner_close(j, p, now_ns);
	}
}

void join_horizon(struct joiner *j, enum exeunt_source source, int64_t mono_ns)
{
	struct process *p, *next;
	int64_t next_ns;

	j->horizon[source] = MAX(j->horizon[source], mono_ns);
	joiner_forget(j, mono_ns);
	if (mono_ns < j->deadline_ns && !(j->active & ~BIT_TASKSTATS))
		return;
	j->deadline_ns = INT64_MAX;
	for (p = table_oldest(j->table, PROCESS_ENDING); p; p = next) {
		next = table_next(j->table, p);
		next_ns = MAX(p->deadline_ns, mono_ns + NS_PER_MSEC);
		if (joiner_is_whole(j, p, mono_ns))
			joiner_close(j, p, mono_ns);
		else if (lacks_audit(j, p) && joiner_is_behind(j, p, mono_ns))
			table_move(j->table, p, PROCESS_BEHIND);
		else
			j->deadline_ns = MIN(j->deadline_ns, next_ns);
	}
	joiner_close_behind(j, mono_ns);
}

int64_t join_deadline(const struct joiner *j)
{
	return j->deadline_ns;
}

bool join_sweep(struct joiner *j, bool (*is_alive)(int32_t tgid), const struct frame *now)
{
	struct process *p, *next;
	bool again = false;

	for (p = table_oldest(j->table, PROCESS_OPEN); p; p = next) {
		next = table_next(j->table, p);
		/* it may have ended after the queues were read: they are read once more before it is judged */
		if (p->gone_ns && p->gone_ns <= j->horizon[EXEUNT_SOURCE_TASKSTATS]) {
			joiner_close_unended(j, p, now);
			continue;
		}
		if (p->touched_ns + SETTLED_NS <= now->mono_ns && !p->gone_ns && !is_alive(p->tgid))
			p->gone_ns = now->mono_ns;
		again |= p->gone_ns || p->touched_ns + SETTLED_NS > now->mono_ns;
	}
	return again;
}

static void settle(struct joiner *j, enum process_state state)
{
	struct process *p, *next;

	for (p = table_oldest(j->table, state); p; p = next) {
		next = table_next(j->table, p);
		if (p->single && (p->sources & BIT_PACCT))
			joiner_close(j, p, p->touched_ns);
	}
}

void join_settle(struct joiner *j, int64_t read_ns)
{
	joiner_judge_accounted(j, read_ns);
	settle(j, PROCESS_BEHIND);
	settle(j, PROCESS_ENDING);
}

void join_flush(struct joiner *j)
{
	struct process *p;

	joiner_tell_evicted(j);
	joiner_judge_all_alone(j);
	while ((p = table_oldest(j->table, PROCESS_BEHIND)))
		joiner_close(j, p, p->touched_ns);
	while ((p = table_oldest(j->table, PROCESS_ENDING)))
		joiner_close(j, p, p->touched_ns);
	memset(j->horizon, 0, sizeof(j->horizon)); /* what comes next may be of another boot */
	memset(j->forgotten_ns, 0, sizeof(j->forgotten_ns));
	j->delay_ns = j->delay_before_ns = j->delay_since_ns = 0;
}

void join_count(const struct joiner *j, struct exeunt_balance *balance)
{
	balance->pending = table_count(j->table, PROCESS_ENDING) +
			   table_count(j->table, PROCESS_BEHIND) +
			   table_count(j->table, PROCESS_ALONE);
	balance->unfinished = table_count(j->table, PROCESS_OPEN);
}

size_t join_kept_bytes(const struct joiner *j)
{
	return table_kept_bytes(j->table);
}
