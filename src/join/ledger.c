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

struct ledger {
	struct exeunt_balance balance;
	ledger_loss_fn fn;
	void *userdata;
	struct sequence *sequences; /* by CPU */
	int n_sequences;
	int64_t missing;	/* gaps less strangers less explained less booked */
	int64_t missing_before; /* the same at the last check */
	int64_t checked_real_ns;
	int64_t hold_ns;
	struct exeunt_loss held[HELD]; /* oldest first */
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

static void lose_tasks(struct ledger *l, const struct exeunt_loss *loss)
{
	l->lost_tasks += loss->count;
	if (!l->hold_ns) {
		l->fn(loss, l->userdata);
		return;
	}
	if (l->n_held == HELD) { /* the oldest goes out as it is */
		l->fn(&l->held[0], l->userdata);
		memmove(l->held, l->held + 1, --l->n_held * sizeof(l->held[0]));
	}
	l->held[l->n_held++] = *loss;
}

void ledger_lose(struct ledger *l, const struct exeunt_loss *loss)
{
	if (loss->source == EXEUNT_SOURCE_OUTPUT)
		l->balance.lost_output += loss->count;
	else if (loss->cause == EXEUNT_LOSS_TABLE_FULL)
		l->balance.evicted += loss->count; /* parts of a process, not the process */
	else
		l->balance.lost += loss->count;
	if (loss->cause == EXEUNT_LOSS_UNPARSABLE)
		l->balance.unparsable += loss->count;
	if (loss->source == EXEUNT_SOURCE_TASKSTATS && loss->cause != EXEUNT_LOSS_TABLE_FULL)
		lose_tasks(l, loss);
	else
		l->fn(loss, l->userdata);
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

void ledger_backfill(struct ledger *l, int64_t exit_time_ns)
{
	l->balance.backfilled++;
	for (unsigned int i = 0; i < l->n_held; i++) {
		if (!covers(&l->held[i], exit_time_ns))
			continue;
		l->held[i].backfilled++;
		return;
	}
}

void ledger_release(struct ledger *l, int64_t real_ns)
{
	unsigned int n = 0;

	while (n < l->n_held &&
	       (real_ns == INT64_MAX || l->held[n].window_end_ns + l->hold_ns <= real_ns))
		l->fn(&l->held[n++], l->userdata);
	l->n_held -= n;
	memmove(l->held, l->held + n, l->n_held * sizeof(l->held[0]));
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
		.window_start_ns = l->checked_real_ns ? l->checked_real_ns : real_ns,
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
