/* SPDX-License-Identifier: MIT */
/* What is remembered of processes that are out, with the bound on it; and what goes when the table is full. See joiner.h. */
#include "join/joiner.h"

#include "record/fields.h"

/* Of strings. Such a process is most often one that was killed under an audit rule, or one of many threads. */
#define KEPT_MOST ((size_t)8 << 20)

static bool holds_text(enum exeunt_field field)
{
	return field_table[field].kind == FIELD_BYTES || field_table[field].kind == FIELD_ARGS;
}

/* Calls fn for each string that the record has, arguments one by one. */
static void for_each_text(struct exeunt_record *r, struct exeunt_bytes *args,
			  void (*fn)(struct exeunt_bytes *text, void *userdata), void *userdata)
{
	for (int word = 0; word < EXEUNT_PRESENT_WORDS; word++)
		for (uint64_t left = r->present[word]; left; left &= left - 1) {
			int field = word * 64 + __builtin_ctzll(left);

			if (field_table[field].kind == FIELD_BYTES)
				fn((struct exeunt_bytes *)((char *)r + field_table[field].offset),
				   userdata);
		}
	for (uint32_t i = 0; exeunt_has(r, EXEUNT_F_ARGS) && i < r->n_args; i++)
		fn(&args[i], userdata);
}

static void add_length(struct exeunt_bytes *text, void *userdata)
{
	*(size_t *)userdata += text->len;
}

static void move_text(struct exeunt_bytes *text, void *userdata)
{
	char **at = userdata;

	if (text->len)
		memcpy(*at, text->data, text->len);
	text->data = *at;
	*at += text->len;
}

static void forget_texts(struct exeunt_record *r)
{
	for (int field = 0; field < EXEUNT_F_COUNT; field++)
		if (holds_text((enum exeunt_field)field))
			field_clear(r, (enum exeunt_field)field);
	r->n_args = 0;
}

/*
 * The strings are the context table's, which lets them go, of the cache of user names, which may ask anew, and of audit's
 * record; an amendment is told seconds later.
 */
static void keep_texts(struct joiner *j, struct process *p)
{
	struct exeunt_record *r = &p->record;
	size_t args_len = exeunt_has(r, EXEUNT_F_ARGS) ? r->n_args * sizeof(r->args[0]) : 0;
	struct exeunt_bytes *args = NULL;
	size_t len = args_len;
	char *kept, *at;

	/* only lengths are read through this one */
	for_each_text(r, (struct exeunt_bytes *)(uintptr_t)r->args, add_length, &len);
	if (!len)
		return;
	kept = malloc(len);
	if (!kept) {
		forget_texts(r);
		return;
	}
	if (args_len) {
		args = memcpy(kept, r->args, args_len);
		r->args = args;
	}
	at = kept + args_len;
	for_each_text(r, args, move_text, &at);
	table_keep(j->table, p, kept, len);
}

/*
 * Of each pid so many are remembered: all of them are gone through for each end of that pid, and where pids are few and
 * accounting is silent, they would be hundreds.
 */
#define REMEMBER_MOST 8

/* Before its time, so that what is told of it yet finds nobody. */
static void forget(struct joiner *j, struct process *p)
{
	int64_t *at_ns = &j->forgotten_ns[(uint32_t)p->tgid % JOINER_FORGOTTEN];

	if (j->awaited & ~p->sources)
		*at_ns = MAX(*at_ns, p->record.exit_time_ns);
	table_remove(j->table, p);
}

/* Times of accounting are good to the second. */
bool joiner_may_be_forgotten(const struct joiner *j, int32_t tgid, int64_t exit_time_ns)
{
	int64_t at_ns = j->forgotten_ns[(uint32_t)tgid % JOINER_FORGOTTEN];

	return at_ns && exit_time_ns <= at_ns + NS_PER_SEC;
}

static void forget_oldest(struct joiner *j, int32_t tgid)
{
	struct process *oldest = NULL;
	unsigned int n = 0;

	for (struct process *p = table_first(j->table, tgid); p; p = table_following(p)) {
		if (p->state != PROCESS_CLOSED)
			continue;
		oldest = p;
		n++;
	}
	if (n > REMEMBER_MOST)
		forget(j, oldest);
}

void joiner_remember(struct joiner *j, struct process *p, int64_t now_ns)
{
	keep_texts(j, p);
	p->deadline_ns = now_ns + REMEMBER_NS;
	table_move(j->table, p, PROCESS_CLOSED);
	forget_oldest(j, p->tgid);
}

void joiner_forget(struct joiner *j, int64_t now_ns)
{
	struct process *p;

	while ((p = table_oldest(j->table, PROCESS_CLOSED)) && p->deadline_ns <= now_ns)
		table_remove(j->table, p);
	while (table_kept_bytes(j->table) > KEPT_MOST &&
	       (p = table_oldest(j->table, PROCESS_CLOSED)))
		forget(j, p);
}

/* Under a flood each new entry costs an old one; a record for each would be a flood of its own. */
static void count_evicted(struct joiner *j, const struct frame *f)
{
	if (!j->evicted.count++)
		j->evicted.window_start_ns = f->real_ns;
	j->evicted.window_end_ns = MAX(f->real_ns, j->evicted.window_start_ns);
}

void joiner_tell_evicted(struct joiner *j)
{
	if (!j->evicted.count)
		return;
	j->evicted.source = EXEUNT_SOURCE_TASKSTATS;
	j->evicted.cause = EXEUNT_LOSS_TABLE_FULL;
	j->evicted.exact = true;
	j->evicted.cpu = -1;
	ledger_lose(j->options.ledger, &j->evicted);
	j->evicted.count = 0;
}

/* Makes room: what is only remembered goes first, then what waits goes out early, then the oldest sums are lost. */
static bool make_room(struct joiner *j, const struct frame *f)
{
	struct process *p = table_oldest(j->table, PROCESS_HINT);

	if (p) {
		table_remove(j->table, p);
		return true;
	}
	p = table_oldest(j->table, PROCESS_CLOSED);
	if (p) {
		forget(j, p);
		return true;
	}
	p = table_oldest(j->table, PROCESS_BEHIND);
	if (!p)
		p = table_oldest(j->table, PROCESS_ENDING);
	if (p) {
		joiner_close(j, p, f->mono_ns);
		return true;
	}
	p = table_oldest(j->table, PROCESS_ALONE);
	if (p && joiner_backfill_early(j, p, f->mono_ns))
		return true;
	p = table_oldest(j->table, PROCESS_OPEN);
	if (!p)
		p = table_oldest(j->table, PROCESS_ALONE);
	if (!p)
		return false;
	count_evicted(j, f);
	table_remove(j->table, p);
	return true;
}

struct process *joiner_add(struct joiner *j, int32_t tgid, const struct frame *f)
{
	struct process *p;

	if (unlikely(table_kept_bytes(j->table) > KEPT_MOST))
		joiner_forget(j, f->mono_ns);
	p = table_add(j->table, tgid);
	while (!p && make_room(j, f))
		p = table_add(j->table, tgid);
	if (p)
		p->touched_ns = f->mono_ns;
	return p;
}
