/* SPDX-License-Identifier: MIT */
/*
 * The joiner: task records in, one record for each process out. Owns the processes that wait; promises that a process
 * becomes an exit record once, that what comes late amends it, and that its table is bounded.
 * Time is what the frames say: the same frames give the same records.
 */
#ifndef JOIN_JOIN_H
#define JOIN_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include <exeunt/record.h>

#include "decode/frame.h"
#include "decode/taskstats.h"
#include "join/ledger.h"

struct join_options {
	unsigned int table_entries; /* 0: JOIN_TABLE_ENTRIES */
	bool threads;		    /* thread records too */
	void (*emit)(struct exeunt_record *record,
		     void *userdata); /* borrowed for the call; may be changed */
	void *userdata;
	struct ledger *ledger; /* borrowed */
};

#define JOIN_TABLE_ENTRIES 32768

struct joiner;

/* Errors: -ENOMEM. */
int join_new(struct joiner **ret, const struct join_options *o);
void join_free(struct joiner *j);

/* A task ended. `f` says when that was read. */
void join_task(struct joiner *j, const struct task_exit *task, const struct frame *f);

/* Everything that was queued before horizon_ns (CLOCK_MONOTONIC) has been passed in: closes what had its grace. */
void join_advance(struct joiner *j, int64_t horizon_ns);

/* When join_advance() has something to do next, CLOCK_MONOTONIC; INT64_MAX: nothing waits. */
int64_t join_deadline(const struct joiner *j);

/*
 * After task records were lost: processes of which some threads were seen and whose end was not. is_alive says
 * whether a process of that pid exists. Those that are gone become exit records, marked as uncertain and backfilled.
 * Returns true when some were touched too lately to judge, and another sweep is due.
 */
bool join_sweep(struct joiner *j, bool (*is_alive)(int32_t tgid), const struct frame *now);

/* Closes all that has ended, without waiting. */
void join_flush(struct joiner *j);

/* Fills `pending` and `unfinished`. */
void join_count(const struct joiner *j, struct exeunt_balance *balance);

#endif
