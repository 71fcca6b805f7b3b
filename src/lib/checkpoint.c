/* SPDX-License-Identifier: MIT */
/* The position in the accounting file, saved with what the caller has to remember beside it. See exeunt.h. */
#include "lib/engine.h"

#include <errno.h>

#include "source/pacct.h"

int exeunt_settle(struct exeunt *x)
{
	join_settle(x->joiner);
	return x->stop_value;
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
