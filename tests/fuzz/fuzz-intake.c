/* SPDX-License-Identifier: MIT */
/*
 * Fuzz harness of the one door: frames of all sources, kinds and times through decoders, joiner, context table and ledger,
 * as a live run has them. The first two bytes choose the sources and the bounds; then come frames, each behind a head:
 *
 *	u8 source (low 3 bits) and kind (next 3), 0x40: a look at the counters behind it, 0x80: times of its own
 *	i8 channel, u16 length, u8 milliseconds since the last; with 0x80 i64 mono, real, since; then the data
 *
 * Checked: each record can be read, has the next number, and tells of whom and how; the balance is that of the records;
 * the tables keep to their bounds; there are no more exits than ends that were told, and nothing comes behind the stop.
 */
#include "base/util.h"
#include "fuzz/fuzz.h"
#include "lib/engine.h"
#include "record/fields.h"

#define TABLE_ENTRIES 8
#define BIT(source) EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_##source)

struct tally {
	uint64_t seq, exits, backfilled, amends;
	uint64_t lost, lost_output, evicted, read;
	enum exeunt_source leading; /* whose losses are exits */
	bool stopped;
};

struct input {
	const uint8_t *data;
	size_t size;
};

static void demand(bool ok)
{
	if (!ok)
		abort();
}

static uint64_t touch(const struct exeunt_bytes *b)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < b->len; i++)
		sum += (unsigned char)b->data[i];
	return sum;
}

/* A sanitizer sees what is not there any more. */
static uint64_t touch_all(const struct exeunt_record *r)
{
	uint64_t sum = 0;

	for (int f = 0; f < EXEUNT_F_COUNT; f++)
		if (field_table[f].kind == FIELD_BYTES && exeunt_has(r, (enum exeunt_field)f))
			sum += touch(field_ptr(r, (enum exeunt_field)f));
	for (uint32_t i = 0; exeunt_has(r, EXEUNT_F_ARGS) && i < r->n_args; i++)
		sum += touch(&r->args[i]);
	demand(memchr(r->comm, 0, sizeof(r->comm)) != NULL);
	demand(memchr(r->thread_name, 0, sizeof(r->thread_name)) != NULL);
	return sum;
}

/* Accounting before version 3 does not say who, and has no status for some kernel threads; audit not always a signal. */
static void check_process(const struct exeunt_record *r)
{
	demand(r->sources != 0);
	demand(exeunt_has(r, EXEUNT_F_PID) || r->sources == BIT(PACCT));
	demand(!exeunt_has(r, EXEUNT_F_PID) || r->pid > 0);
	demand(!exeunt_has(r, EXEUNT_F_EXIT_CODE) || !exeunt_has(r, EXEUNT_F_EXIT_SIGNAL));
	if (r->sources & BIT(TASKSTATS))
		demand(exeunt_has(r, EXEUNT_F_EXIT_CODE) || exeunt_has(r, EXEUNT_F_EXIT_SIGNAL));
	demand(!(r->sources & r->missing));
	demand(r->backfilled == exeunt_has(r, EXEUNT_F_BACKFILLED));
}

static void add_loss(struct tally *t, const struct exeunt_loss *loss)
{
	demand(loss->count || loss->cause == EXEUNT_LOSS_NOT_RUNNING);
	demand(loss->backfilled <= loss->count);
	demand(loss->window_start_ns <= loss->window_end_ns);
	if (loss->source == EXEUNT_SOURCE_OUTPUT)
		t->lost_output += loss->count;
	else if (loss->cause == EXEUNT_LOSS_TABLE_FULL)
		t->evicted += loss->count;
	else if (loss->source == t->leading)
		t->lost += loss->count;
}

static void check_stop(struct tally *t, const struct exeunt_balance *b)
{
	t->stopped = true;
	demand(b->exits == t->exits && b->amends == t->amends && b->backfilled == t->backfilled);
	demand(b->lost == t->lost && b->lost_output == t->lost_output);
	demand(b->evicted == t->evicted);
	demand(b->records + 1 == t->seq &&
	       b->pending == 0); /* the stop record itself is not in it */
}

static int on_record(const struct exeunt_record *r, void *userdata)
{
	struct tally *t = userdata;

	demand(!t->stopped);
	demand(r->seq == ++t->seq);
	t->read += touch_all(r);
	switch (r->type) {
	case EXEUNT_TYPE_EXIT:
		t->exits++;
		t->backfilled += r->backfilled;
		check_process(r);
		break;
	case EXEUNT_TYPE_AMEND:
		t->amends++;
		check_process(r);
		break;
	case EXEUNT_TYPE_THREAD:
		check_process(r);
		break;
	case EXEUNT_TYPE_LOSS:
		add_loss(t, r->loss);
		break;
	case EXEUNT_TYPE_STOP:
		check_stop(t, &r->status->balance);
		break;
	default:
		abort();
	}
	return 0;
}

static bool take(struct input *in, void *to, size_t len)
{
	if (in->size < len)
		return false;
	memcpy(to, in->data, len);
	in->data += len;
	in->size -= len;
	return true;
}

static bool lives(int32_t tgid)
{
	return tgid % 2;
}

/* What loop.c does now and then. */
static void look(struct exeunt *x, const struct frame *f)
{
	struct exeunt_balance b;

	join_checked(x->joiner, x->intake.mono_ns);
	intake_settle(&x->intake);
	join_sweep(x->joiner, lives, f);
	if (x->context)
		context_tick(x->context, x->intake.mono_ns);
	exeunt_balance(x, &b);
	demand(b.pending + b.unfinished <= TABLE_ENTRIES);
	demand(join_kept_bytes(x->joiner) <= 9u << 20);
}

static void feed(struct exeunt *x, struct input *in)
{
	struct frame f = { .mono_ns = NS_PER_SEC, .real_ns = 1700000000 * NS_PER_SEC };
	uint8_t head[5];

	while (take(in, head, sizeof(head))) {
		int64_t times[3];
		uint8_t *copy;

		f.source = head[0] & 7;
		f.kind = head[0] >> 3 & 7;
		f.channel = (int8_t)head[1];
		f.since_ns = f.mono_ns;
		f.mono_ns += head[4] * NS_PER_MSEC;
		f.real_ns += head[4] * NS_PER_MSEC;
		if ((head[0] & 0x80) && take(in, times, sizeof(times))) {
			f.mono_ns = times[0];
			f.real_ns = times[1];
			f.since_ns = times[2];
		}
		f.len = MIN((size_t)load_u16(head + 2), in->size);
		copy = malloc(f.len ? f.len : 1); /* its end is the end of memory */
		demand(copy && take(in, copy, f.len));
		f.data = copy;
		demand(engine_frame(&f, x) == 0);
		free(copy);
		if (head[0] & 0x40)
			look(x, &f);
		/* what is in range again is held against the last that was */
		f.mono_ns = x->intake.mono_ns;
		f.real_ns = x->intake.real_ns;
	}
}

static enum exeunt_source leading(uint32_t active)
{
	if (active & BIT(TASKSTATS))
		return EXEUNT_SOURCE_TASKSTATS;
	return active & BIT(PACCT) ? EXEUNT_SOURCE_PACCT : EXEUNT_SOURCE_AUDIT;
}

static void prepare(struct exeunt *x, struct tally *t, const uint8_t choice[2])
{
	const struct context_options o = { .proc_path = "", .max_entries = 16 };

	if (choice[1] & 1)
		demand(context_new(&x->context, &o, NULL) == 0);
	x->intake.context = x->context;
	join_set_context(x->joiner, x->context);
	x->intake.from_file = choice[1] & 4;
	x->intake.delay_accounting = choice[1] & 8;
	t->leading = leading(choice[0] & 15);
	join_set_sources(x->joiner, choice[0] & 15, choice[0] >> 4 & 15);
	ledger_set_hold(x->ledger, choice[1] & 16 ? NS_PER_SEC : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct tally tally = { 0 };
	struct exeunt_options o = { .size = sizeof(o),
				    .numeric = true,
				    .table_entries = TABLE_ENTRIES,
				    .on_record = on_record,
				    .userdata = &tally };
	struct exeunt *x;
	uint8_t choice[2];

	if (!take(&in, choice, sizeof(choice)))
		return 0;
	o.threads = choice[1] & 2;
	if (exeunt_new(&x, &o) < 0)
		return 0;
	prepare(x, &tally, choice);
	feed(x, &in);
	demand(exeunt_stop(x) == 0);
	demand(tally.stopped);
	/* a task, an accounting record or an audit event is an end at the most */
	demand(tally.exits <= ledger_balance(x->ledger)->threads_seen + size / PACCT_MIN_SIZE +
				      (x->intake.audit_begun
					       ? audit_assemble_counters(x->intake.audit)->events
					       : 0));
	exeunt_free(x);
	return 0;
}
