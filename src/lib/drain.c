/* SPDX-License-Identifier: MIT */
/*
 * Reading the sources, in the order that makes the most of them; and what is done with one that cannot be read any more: it
 * is given up, which is a loss and said so, and the others go on. When is in loop.c.
 */
#include "lib/engine.h"

#include "base/clock.h"
#include "base/util.h"

/* At the end: what is queued later than that ended after we were asked to stop. */
#define DRAIN_NS (2 * NS_PER_SEC)

struct source *source_in_use(const struct exeunt *x, enum exeunt_source source)
{
	return x->given_up & EXEUNT_SOURCE_BIT(source) ? NULL : x->sources[source];
}

static void tell_loss(struct exeunt *x, enum exeunt_source source)
{
	struct exeunt_loss loss = {
		.source = source,
		.cause = EXEUNT_LOSS_NOT_RUNNING,
		.exact = false, /* at least none: who can say */
		.cpu = -1,
		.window_end_ns = real_now(),
	};

	loss.window_start_ns = MIN(x->intake.real_ns, loss.window_end_ns);
	ledger_lose(x->ledger, &loss);
}

/* Whose pid was used again meanwhile nobody knows: rather nothing than somebody else's. */
static void distrust_context(struct exeunt *x)
{
	x->intake.context = NULL;
	join_set_context(x->joiner, NULL);
}

/* Returns 0 when others tell of ends, else the error. */
static int give_up(struct exeunt *x, enum exeunt_source source, int error)
{
	struct exeunt_source_status *st = &x->status[source];

	engine_fail(x, error, "reading from %s failed: %s", exeunt_source_name(source),
		    strerror(-error));
	if (error == -ENOMEM)
		return error; /* ours, not the source's */
	loop_unwatch(x, source);
	x->given_up |= EXEUNT_SOURCE_BIT(source);
	st->state = EXEUNT_STATE_FAILED;
	st->error = -error;
	st->reason = "it could not be read any more";
	st->remedy = "start exeunt again";
	if (source == EXEUNT_SOURCE_PROCEVENTS)
		distrust_context(x);
	tell_loss(x, source);
	engine_update_sources(x);
	if (!engine_tells_of_ends(x))
		return error;
	engine_message(x, 3, "%s; the other sources go on", x->error);
	return 0;
}

int drain_source(struct exeunt *x, enum exeunt_source source, bool woken, bool *more)
{
	struct source *s = source_in_use(x, source);
	bool again = false;
	int r = s ? s->ops->drain(s, woken, engine_frame, x, &again) : 0;

	if (r < 0)
		return give_up(x, source, r);
	*more |= again;
	return r;
}

/*
 * The leading sources first, and the proc connector behind them: what it tells of a process was queued before its end was,
 * so that it is known when the end is put out. Audit tells of an EXEC behind that, of a process that is known by then.
 */
int drain_sources(struct exeunt *x, bool woken, bool *more)
{
	static const enum exeunt_source order[] = { EXEUNT_SOURCE_TASKSTATS, EXEUNT_SOURCE_PACCT,
						    EXEUNT_SOURCE_PROCEVENTS, EXEUNT_SOURCE_AUDIT };
	int total = 0;

	*more = false;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		int r = drain_source(x, order[i], woken, more);

		if (r < 0)
			return r;
		/* its own events come and go with each fork; the naps are for ends */
		if (order[i] != EXEUNT_SOURCE_PROCEVENTS)
			total += r;
	}
	return total;
}

int check_sources(struct exeunt *x)
{
	for (size_t i = 0; i < ARRAY_SIZE(x->sources); i++) {
		struct source *s = source_in_use(x, (enum exeunt_source)i);
		int r = s ? s->ops->check(s, engine_frame, x) : 0;

		if (r < 0)
			r = give_up(x, (enum exeunt_source)i, r);
		if (r < 0)
			return r;
		if (s)
			engine_tell_messages(x, s);
	}
	join_checked(x->joiner, x->intake.mono_ns);
	intake_settle(&x->intake);
	return 0;
}

int drain_all(struct exeunt *x)
{
	int64_t until = mono_now() + DRAIN_NS;
	bool more;
	int r;

	do {
		r = drain_sources(x, false, &more);
		if (r < 0)
			return r;
	} while (more && mono_now() < until);
	for (size_t i = 0; i < ARRAY_SIZE(x->sources); i++) {
		struct source *s = source_in_use(x, (enum exeunt_source)i);

		if (s && s->ops->finish)
			s->ops->finish(s, engine_frame, x);
	}
	return check_sources(x);
}
