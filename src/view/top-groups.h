/* SPDX-License-Identifier: MIT */
/*
 * Groups of exits: sums since the start, and in windows that fade: what was counted is worth less by e in the time of the
 * window. Bounded: where all places are taken, a quarter of the groups, those that count least, is given up, and what they
 * had is summed with the others; how much that is, is known. Pure: time is a number passed in.
 */
#ifndef VIEW_TOP_GROUPS_H
#define VIEW_TOP_GROUPS_H

#include <exeunt/record.h>

#include "base/util.h"

enum top_value {
	TOP_EXITS,
	TOP_FAILED,
	TOP_KILLED,
	TOP_CPU, /* microseconds, as all times here */
	TOP_ELAPSED,
	TOP_READ,
	TOP_WRITTEN,
	TOP_MAJOR,
	TOP_DELAY,
	TOP_VALUES
};

/* What cannot be summed: it holds for one to two times the window. */
enum top_max { TOP_LONGEST, TOP_RSS, TOP_MAXES };

enum top_window { TOP_10S, TOP_1M, TOP_5M, TOP_START, TOP_WINDOWS };

/* Seconds; 0: since the start. */
extern const int top_window_s[TOP_WINDOWS];

/* Windows fade in steps of this. */
#define TOP_TICK_NS (100 * NS_PER_MSEC)

/* What one exit adds. A value above this is no true one, and would only hide the others. */
#define TOP_VALUE_MOST (UINT64_C(1) << 48)

struct top_gift {
	uint64_t value[TOP_VALUES];
	uint64_t max[TOP_MAXES];
	uint32_t unknown; /* mask of values, and of maxima from bit TOP_VALUES on */
};

void top_weigh(struct top_gift *ret, const struct exeunt_record *r);

struct top_sums {
	double value[TOP_VALUES];
	uint64_t max[TOP_MAXES];
	uint64_t unknown[TOP_VALUES + TOP_MAXES]; /* exits since the start that did not tell it */
	double exits;				  /* since the start */
};

struct top_fading {
	double value[TOP_VALUES];
	int64_t epoch; /* number of the window that max[0] is of */
	uint64_t max[2][TOP_MAXES];
};

struct top_exit;

struct top_group {
	uint64_t hash;
	uint32_t id;		    /* of all groups that ever were */
	int64_t tick;		    /* that the windows are of */
	uint64_t fresh[TOP_VALUES]; /* since then; in two's complement, for amends take back */
	uint64_t fresh_max[TOP_MAXES];
	double total[TOP_VALUES];
	uint64_t total_max[TOP_MAXES];
	uint64_t unknown[TOP_VALUES + TOP_MAXES];
	struct top_fading fading[TOP_START];
	struct top_exit *first, *last; /* of the exits that are kept, the oldest first */
	uint32_t n_kept;
	uint32_t key_len;
	uint8_t key[];
};

/* All zero, and of that time. */
void top_group_begin(struct top_group *g, int64_t tick);

void top_group_give(struct top_group *g, const struct top_gift *gift, int64_t tick);
void top_group_take_back(struct top_group *g, const struct top_gift *gift, int64_t tick);

/* As it is at that time, added to *ret. */
void top_group_add(struct top_group *g, enum top_window window, int64_t tick, struct top_sums *ret);

struct top_groups {
	struct top_group **groups; /* with holes behind `n` only */
	uint32_t n, most;
	uint64_t seed;
	uint32_t *slots; /* 1 + place in groups, or 0 */
	uint32_t n_slots;
	uint32_t next_id;
	struct top_group *others;
	uint64_t given_up; /* groups */
	/* Called for a group that goes; NULL: nobody wants to know. */
	void (*on_gone)(struct top_group *g, void *userdata);
	void *userdata;
};

/* Errors: -ENOMEM. */
int top_groups_init(struct top_groups *t, uint32_t most, uint64_t seed);
void top_groups_clear(struct top_groups *t);

/* The group of the key, made if there is none; the others if there is no memory. */
struct top_group *top_groups_get(struct top_groups *t, const uint8_t *key, size_t len,
				 int64_t tick);

/* The group that had this hash and id, the others if it is gone. */
struct top_group *top_groups_again(struct top_groups *t, uint64_t hash, uint32_t id);

#endif
