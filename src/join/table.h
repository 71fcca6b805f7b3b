/* SPDX-License-Identifier: MIT */
/*
 * The bounded table of processes that are not yet, or no longer, a record: some threads have ended, or the last one has
 * and others may follow. Owns its entries; a tgid may have several at once, for pids are used again.
 */
#ifndef JOIN_TABLE_H
#define JOIN_TABLE_H

#include <exeunt/record.h>

#include "base/list.h"
#include "join/verdict.h"

enum process_state {
	PROCESS_OPEN,	/* lives on; ended threads are kept here */
	PROCESS_ENDING, /* the last task ended; its companions have a time of grace */
	PROCESS_CLOSED, /* its record is out; kept for a while, so that a late thread amends it */
	PROCESS_STATES
};

struct process {
	struct list node;	   /* in the list of its state, oldest first */
	struct process *hash_next; /* or next free */
	enum process_state state;
	int32_t tgid;
	int64_t start_low_ns; /* the leader began between these two, CLOCK_MONOTONIC */
	int64_t start_high_ns;
	uint64_t leader_at_us; /* ac_tgetime of the leader's record that gave the name */
	int64_t touched_ns;    /* last record read */
	int64_t deadline_ns;   /* of grace, or of being remembered */
	bool backfilled;
	struct verdict verdict;
	struct exeunt_record record;
};

struct table;

/* Errors: -ENOMEM. */
int table_new(struct table **ret, unsigned int most);
void table_free(struct table *t);

/*
 * Finds the entry of this tgid whose start may lie in [low, high], give or take `slack_ns`; newest first. NULL: none.
 */
struct process *table_find(const struct table *t, int32_t tgid, int64_t low_ns, int64_t high_ns,
			   int64_t slack_ns);

/* Any other entry of this tgid in state OPEN than `not_this`: its process is gone, for the pid is used again. */
struct process *table_find_stale(const struct table *t, int32_t tgid,
				 const struct process *not_this);

/* A new zeroed entry in state OPEN. NULL when the table is full, or memory is. */
struct process *table_add(struct table *t, int32_t tgid);
void table_remove(struct table *t, struct process *p);

/* Puts the entry at the end of the list of this state. */
void table_move(struct table *t, struct process *p, enum process_state state);

/* The oldest entry of a state, or NULL; and the one behind it. */
struct process *table_oldest(const struct table *t, enum process_state state);
struct process *table_next(const struct table *t, const struct process *p);

unsigned int table_count(const struct table *t, enum process_state state);

#endif
