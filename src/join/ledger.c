/* SPDX-License-Identifier: MIT */
/*
 * How gaps in the kernel's per-CPU message numbers are told from tasks that moved while the kernel sent. See ledger.h.
 *
 * kernel/taskstats.c: prepare_reply() takes the number of the CPU it runs on, send_cpu_listeners() the listeners of the
 * CPU it runs on; a task preempted between leaves a gap of one in the first CPU's numbers, and a stranger in the
 * second's. A stranger shows by the next number, which goes on from before it. So gaps less strangers is what is missing.
 */
#include "join/ledger.h"

#include "base/util.h"

struct sequence {
	bool known;
	bool suspected; /* the last number jumped: a gap or a stranger */
	uint32_t last;	/* that all before have been seen or counted */
	uint32_t suspect;
};

#define HELD 256
/* So long after its window what other sources bring is still held against a loss. */
#define KEPT_NS (3 * NS_PER_SEC)

/* A loss of taskstats. */
struct held {
	struct exeunt_loss loss;
	bool told;
};

struct ledger {
	struct exeunt_balance balance;
	ledger_loss_fn fn;
	void *userdata;
	struct sequence *sequences; /* by CPU */
	int n_sequences;
	int64_t missing;	/* gaps less strangers less explained less booked */
	int64_t missing_before; /* the same at the last check */
	int64_t checked_real_ns;
	enum exeunt_source leading; /* 0 is taskstats */
	int64_t hold_ns;
	struct held held[HELD]; /* oldest first */
	unsigned int n_held;
	uint64_t lost_tasks; /* of taskstats */
};

int ledger_new(struct ledger **ret, ledger_loss_fn fn, void *userdata)
{
	struct ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->fn = fn;
	l->userdata = userdata;
	*ret = l;
	return 0;
}

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	free(l->sequences);
	free(l);
}

struct exeunt_balance *ledger_balance(struct ledger *l)
{
	return &l->balance;
}

static void tell(struct ledger *l, struct held *h)
{
	if (h->told)
		return;
	h->told = true;
	l->fn(&h->loss, l->userdata);
}

static void drop_oldest(struct ledger *l, unsigned int n)
{
	l->n_held -= n;
	memmove(l->held, l->held + n, l->n_held * sizeof(l->held[0]));
}

static void lose_tasks(struct ledger *l, const struct exeunt_loss *loss)
{
	struct held *h;

	l->lost_tasks += loss->count;
	if (l->n_held == HELD) { /* the oldest goes out as it is */
		tell(l, &l->held[0]);
		drop_oldest(l, 1);
	}
	h = &l->held[l->n_held++];
	*h = (struct held){ .loss = *loss };
	if (!l->hold_ns)
		tell(l, h);
}

void ledger_set_leading(struct ledger *l, enum exeunt_source source)
{
	l->leading = source;
}

void ledger_lose(struct ledger *l, const struct exeunt_loss *loss)
{
	if (loss->source == EXEUNT_SOURCE_OUTPUT)
		l->balance.lost_output += loss->count;
	else if (loss->cause == EXEUNT_LOSS_TABLE_FULL)
		l->balance.evicted += loss->count; /* parts of a process, not the process */
	else if (loss->source == l->leading)
		l->balance.lost += loss->count;
	if (loss->cause == EXEUNT_LOSS_UNPARSABLE)
		l->balance.unparsable += loss->count;
	if (loss->source != EXEUNT_SOURCE_TASKSTATS || loss->cause == EXEUNT_LOSS_TABLE_FULL ||
	    !loss->count)
		l->fn(loss, l->userdata); /* nothing that could be filled */
	else
		lose_tasks(l, loss);
}

void ledger_set_hold(struct ledger *l, int64_t hold_ns)
{
	l->hold_ns = hold_ns;
}

uint64_t ledger_outstanding(const struct ledger *l)
{
	return l->lost_tasks > l->balance.backfilled ? l->lost_tasks - l->balance.backfilled : 0;
}

/* The times of other sources are good to the second. */
static bool covers(const struct exeunt_loss *loss, int64_t exit_time_ns)
{
	return loss->backfilled < loss->count &&
	       exit_time_ns + NS_PER_SEC >= loss->window_start_ns &&
	       exit_time_ns - NS_PER_SEC <= loss->window_end_ns;
}

static struct exeunt_loss *find_loss(struct ledger *l, int64_t exit_time_ns)
{
	for (unsigned int i = 0; i < l->n_held; i++)
		if (covers(&l->held[i].loss, exit_time_ns))
			return &l->held[i].loss;
	return NULL;
}

bool ledger_is_lost(struct ledger *l, int64_t exit_time_ns)
{
	return find_loss(l, exit_time_ns) != NULL;
}

void ledger_backfill(struct ledger *l, int64_t exit_time_ns)
{
	struct exeunt_loss *loss = find_loss(l, exit_time_ns);

	l->balance.backfilled++;
	if (loss)
		loss->backfilled++;
}

/* A clock that was set back shall not make it wait. */
static bool has_waited(const struct exeunt_loss *loss, int64_t wait_ns, int64_t real_ns)
{
	return real_ns == INT64_MAX || real_ns - loss->window_end_ns >= wait_ns ||
	       real_ns - loss->window_end_ns < -wait_ns;
}

void ledger_release(struct ledger *l, int64_t real_ns)
{
	int64_t keep_ns = MAX(l->hold_ns, KEPT_NS);
	unsigned int over = 0;

	for (unsigned int i = 0; i < l->n_held; i++) {
		struct held *h = &l->held[i];

		if (has_waited(&h->loss, l->hold_ns, real_ns))
			tell(l, h);
		if (i == over && has_waited(&h->loss, keep_ns, real_ns))
			over++;
	}
	drop_oldest(l, over);
}

bool ledger_is_settled(const struct ledger *l)
{
	return !l->n_held && l->missing <= 0;
}

static int sequence_of(struct ledger *l, int cpu, struct sequence **ret)
{
	if (cpu < 0 || cpu > 65535)
		return -EINVAL;
	if (cpu >= l->n_sequences) {
		int n = cpu + 16;
		struct sequence *grown = realloc(l->sequences, (size_t)n * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + l->n_sequences, 0, (size_t)(n - l->n_sequences) * sizeof(*grown));
		l->sequences = grown;
		l->n_sequences = n;
	}
	*ret = &l->sequences[cpu];
	return 0;
}

int ledger_sequence(struct ledger *l, int cpu, uint32_t seq)
{
	struct sequence *s;
	int r = sequence_of(l, cpu, &s);

	if (r < 0)
		return r == -EINVAL ? 0 : r; /* a capture may name any channel */
	if (!s->known) {
		*s = (struct sequence){ .known = true, .last = seq };
		return 0;
	}
	if (likely(!s->suspected && seq == s->last + 1)) {
		s->last = seq;
		return 0;
	}
	if (s->suspected) {
		s->suspected = false;
		if (seq == s->last + 1) { /* the numbers go on from before: it was a stranger */
			l->missing--;
			s->last = seq;
			return 0;
		}
		l->missing += (int64_t)(uint32_t)(s->suspect - s->last - 1);
		s->last = s->suspect;
		if (seq == s->last + 1) {
			s->last = seq;
			return 0;
		}
	}
	s->suspected = true;
	s->suspect = seq;
	return 0;
}

void ledger_restart(struct ledger *l)
{
	if (l->n_sequences)
		memset(l->sequences, 0, (size_t)l->n_sequences * sizeof(*l->sequences));
	l->missing = l->missing_before = 0;
	l->checked_real_ns = 0;
	ledger_release(l, INT64_MAX);
}

void ledger_explain(struct ledger *l, uint64_t count)
{
	l->missing -= (int64_t)count;
}

void ledger_check(struct ledger *l, int64_t real_ns)
{
	int64_t standing = MIN(l->missing, l->missing_before);
	struct exeunt_loss loss = {
		.source = EXEUNT_SOURCE_TASKSTATS,
		.cause = EXEUNT_LOSS_SEQUENCE_GAP,
		.exact = false,
		.cpu = -1,
		.window_start_ns = l->checked_real_ns ? MIN(l->checked_real_ns, real_ns) : real_ns,
		.window_end_ns = real_ns,
	};

	l->missing_before = l->missing;
	if (standing <= 0) {
		l->checked_real_ns = real_ns;
		return;
	}
	l->missing -= standing;
	l->missing_before = l->missing;
	l->checked_real_ns = real_ns;
	loss.count = (uint64_t)standing;
	ledger_lose(l, &loss);
}
