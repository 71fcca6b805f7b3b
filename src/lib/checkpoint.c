/* SPDX-License-Identifier: MIT */
/* The position in the accounting file, saved with what the caller has to remember beside it. See exeunt.h. */
#include "lib/engine.h"

#include <errno.h>

#include "base/clock.h"
#include "source/pacct.h"

/*
 * The kernel sends an end before it writes it down (kernel/exit.c: taskstats_exit() comes before acct_process()). So what
 * accounting has told of is in the sockets by now, or was lost, or never was an end.
 */
static int read_sent(struct exeunt *x)
{
	bool more;
	int r;

	do {
		more = false;
		r = drain_source(x, EXEUNT_SOURCE_TASKSTATS, false, &more);
	} while (r >= 0 && more);
	return r < 0 ? r : check_sources(x);
}

int exeunt_settle(struct exeunt *x)
{
	int64_t read_ns = mono_now();
	int r = 0;

	if (source_in_use(x, EXEUNT_SOURCE_PACCT) && source_in_use(x, EXEUNT_SOURCE_TASKSTATS))
		r = read_sent(x);
	join_settle(x->joiner, read_ns);
	return r < 0 ? r : x->stop_value;
}

int exeunt_checkpoint(struct exeunt *x, const char *note)
{
	struct source *s = x->sources[EXEUNT_SOURCE_PACCT];

	return s ? pacct_source_save(s, note) : -ENOTSUP;
}

int exeunt_mark(struct exeunt *x)
{
	struct source *s = x->sources[EXEUNT_SOURCE_PACCT];

	return s ? pacct_source_mark(s) : -ENOTSUP;
}

int exeunt_checkpoint_mark(struct exeunt *x)
{
	struct source *s = x->sources[EXEUNT_SOURCE_PACCT];

	return s ? pacct_source_save_mark(s) : -ENOTSUP;
}

void engine_remember(struct exeunt *x)
{
	if (x->sources[EXEUNT_SOURCE_PACCT] && !x->options.pacct_state)
		exeunt_checkpoint(
			x,
			""); /* -ENOTSUP for a file of somebody else's, which begins at its end each time */
}
