/* SPDX-License-Identifier: MIT */
/*
 * What `exeunt top` knows: exits in groups, the latest of them whole, how many there were in each of the last seconds, and
 * what was lost. Bounded memory; owns all that it keeps. Pure: time is a number passed in, of any clock that does not go back,
 * above 0.
 */
#ifndef VIEW_TOP_MODEL_H
#define VIEW_TOP_MODEL_H

#include <exeunt/record.h>

#include "view/top-exits.h"
#include "view/top-groups.h"

#define TOP_GROUPS_MOST 16384
#define TOP_HISTORY_SECONDS 300

struct top_loss {
	uint64_t count, backfilled;
	bool exact;
};

struct top_model;

/* `most` groups of each of two tables; 0: TOP_GROUPS_MOST. Errors: -ENOMEM. */
int top_model_new(struct top_model **ret, uint32_t most);
void top_model_free(struct top_model *m);

/* A new one that begins where `from` is, with nothing but its losses and sources: those are never forgotten. */
int top_model_again(struct top_model **ret, const struct top_model *from);

/*
 * Counts an exit, corrects it by an amend, notes a loss or the sources; other types are passed over. `counted` false: the
 * exit is left out, which an amend may change.
 */
void top_model_take(struct top_model *m, const struct exeunt_record *r, int64_t now_ns,
		    bool counted);

/* Nothing happened, and it is later. */
void top_model_advance(struct top_model *m, int64_t now_ns);

/* The latest exits stand still, while somebody looks at them. */
void top_model_hold(struct top_model *m, bool hold);

/* Seconds since the first record, and the time of the last one or of top_model_advance(). */
double top_model_seconds(const struct top_model *m);
int64_t top_model_now(const struct top_model *m);

/* All exits. */
void top_model_total(struct top_model *m, enum top_window window, struct top_sums *ret);

/* With the parent of each exit, or without, which is more exact. */
struct top_groups *top_model_groups(struct top_model *m, bool with_parent);

/* The newest one; older ones by their links. */
const struct top_exit *top_model_latest(const struct top_model *m);

/* Exits in that second before the present one; 0: the present one. */
uint32_t top_model_history(const struct top_model *m, unsigned int seconds_ago);

/* Of one source and cause. */
const struct top_loss *top_model_loss(const struct top_model *m, enum exeunt_source source,
				      enum exeunt_loss_cause cause);

/* All that was lost for good; *exact false: at least so many. */
uint64_t top_model_lost(const struct top_model *m, bool *exact);

/* Amends of exits that were too long ago. */
uint64_t top_model_lost_amends(const struct top_model *m);

/* Sources that are open, as the last start, status or stop record says. */
uint32_t top_model_sources(const struct top_model *m);
void top_model_set_sources(struct top_model *m, uint32_t sources);

#endif
