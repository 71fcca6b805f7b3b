/* SPDX-License-Identifier: MIT */
/*
 * Segments of a store: their records are joined already, and are handed over as they were put out. Start, status and stop records
 * of the runs in it are left out: they are of other streams, and this one has its own.
 */
#include "lib/replay.h"

#include "base/util.h"
#include "store/reader.h"

static const char magic[] = "SQLite format 3"; /* with the NUL */

static bool is_store(const void *head, size_t len, bool whole)
{
	(void)whole;
	return len >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

/* The order of segments is that of their names. */
static int64_t first_ns(const void *head, size_t len)
{
	(void)head;
	(void)len;
	return 0;
}

static void take_host(struct exeunt *x, const struct store_row *row)
{
	if (x->started && !strcmp(x->info.host, row->host_name) &&
	    !strcmp(x->info.boot_id, row->boot_id))
		return;
	snprintf(x->info.host, sizeof(x->info.host), "%s", row->host_name);
	snprintf(x->info.boot_id, sizeof(x->info.boot_id), "%s", row->boot_id);
	replay_start(x, row->record.time_ns, 0);
}

static void count(struct exeunt_balance *b, const struct exeunt_record *r)
{
	if (r->type == EXEUNT_TYPE_EXIT) {
		b->exits++;
		b->threads_seen += exeunt_has(r, EXEUNT_F_THREADS) ? r->threads : 1;
		b->backfilled += exeunt_has(r, EXEUNT_F_BACKFILLED) && r->backfilled;
	}
	b->amends += r->type == EXEUNT_TYPE_AMEND;
	if (!r->loss)
		return;
	if (r->loss->source == EXEUNT_SOURCE_OUTPUT)
		b->lost_output += r->loss->count;
	else
		b->lost += r->loss->count;
}

static int replay_rows(struct exeunt *x, struct store_reader *reader)
{
	const struct store_row *row;
	int r;

	while ((r = store_reader_next(reader, &row)) > 0 && !x->stop_value) {
		struct exeunt_record record;

		x->store_position = row->id;
		take_host(x, row);
		x->intake.real_ns = row->record.time_ns;
		if (row->json || !row->record.type)
			continue;
		count(ledger_balance(x->ledger), &row->record);
		record = row->record;
		engine_emit(&record, x);
	}
	return MIN(r, 0);
}

static int replay(struct exeunt *x, struct input *in)
{
	const struct store_query query = { .fields = x->options.fields,
					   .after_id = x->options.store_after };
	struct store_reader *reader;
	char error[512];
	int r = store_reader_new(&reader, input_name(in), &query, error, sizeof(error));

	if (r < 0)
		return engine_fail(x, r, "%s", error);
	/* names of users are in the records: those of then and there */
	users_free(TAKE(x->users));
	r = replay_rows(x, reader);
	if (r < 0)
		engine_fail(x, r, "'%s': %s", input_name(in), store_reader_error(reader));
	store_reader_free(reader);
	return r;
}

const struct replay_format replay_store = {
	.name = "store",
	.is = is_store,
	.first_ns = first_ns,
	.replay = replay,
};

int64_t exeunt_store_position(const struct exeunt *x)
{
	return x->store_position;
}
