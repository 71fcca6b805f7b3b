/* SPDX-License-Identifier: MIT */
/*
 * The joiner: what each source told of an end in, one record for each process out. Owns the processes that wait; promises
 * that a process becomes an exit record once, that what comes late amends it, and that its table is bounded.
 * Time is what the frames say: the same frames give the same records.
 *
 * taskstats leads where it is active: its record of the last task makes the exit. Where it is not, pacct does, and where
 * that is not either, audit. What only another source told of is an exit if the leading one lost something.
 */
#ifndef JOIN_JOIN_H
#define JOIN_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include <exeunt/record.h>

#include "decode/audit_event.h"
#include "decode/frame.h"
#include "decode/pacct.h"
#include "decode/taskstats.h"
#include "join/context.h"
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
#define JOIN_TABLE_MOST (1u << 22) /* there are no more pids (PID_MAX_LIMIT) */

struct joiner;

/* Errors: -ENOMEM. */
int join_new(struct joiner **ret, const struct join_options *o);
void join_free(struct joiner *j);

/*
 * Masks of sources. active: those that work now. awaited: of those, the ones that tell of every end or nearly (pacct; audit
 * while a rule for exits is loaded), so that a record is held for them until they had their time.
 */
void join_set_sources(struct joiner *j, uint32_t active, uint32_t awaited);

/*
 * Audit tells of executions too: where the program of a process is not known, it is given as much time as for the ends
 * that it tells of.
 */
void join_set_told(struct joiner *j, bool told);

/* Who was which pid; borrowed. Without it identity is what the sources themselves tell. */
void join_set_context(struct joiner *j, struct context *context);

/*
 * taskstats is listened to since then: what accounting tells of processes that ended before was never to be had from it.
 */
void join_set_since(struct joiner *j, int64_t real_ns);

/* A task ended. `f` says when that was read. */
void join_task(struct joiner *j, const struct task_exit *task, const struct frame *f);

/* An accounting record was read. */
void join_pacct(struct joiner *j, const struct pacct_exit *e, const struct frame *f);

/* An audit record was read, whatever it tells; its own time is audit_ns. Tells how far audit is behind. */
void join_audit_seen(struct joiner *j, int64_t audit_ns, const struct frame *f);

/* Audit told of an end: EXIT, ABEND or SECCOMP with a signal. Others are passed over. */
void join_audit(struct joiner *j, const struct audit_event *e, const struct frame *f);

/*
 * Audit told of an execution, whose arguments are cleaned, and a process of this pid went out before that. The second says
 * whether there is such a one.
 */
void join_exec(struct joiner *j, const struct audit_event *e, const struct frame *f);
bool join_awaits_exec(const struct joiner *j, int32_t tgid);

/* Everything that the source had queued before mono_ns has been passed in: closes what waited for that. */
void join_horizon(struct joiner *j, enum exeunt_source source, int64_t mono_ns);

/* The overflow counters of the leading source were read at mono_ns and are booked: judges what stands alone. */
void join_checked(struct joiner *j, int64_t mono_ns);

/* Accounting is still being read that was written well before mono_ns: what was lost may yet be brought. */
bool join_is_behind(const struct joiner *j, int64_t mono_ns);

/* Others tell of many ends of which the leading source did not: it is time to ask what it lost. */
bool join_is_crowded(const struct joiner *j);

/* When join_horizon() has something to do next, CLOCK_MONOTONIC; INT64_MAX: nothing waits. */
int64_t join_deadline(const struct joiner *j);

/*
 * After task records were lost: processes of which some threads were seen and whose end was not. is_alive says
 * whether a process of that pid exists. Those that are gone, and still without an end when all queues were read after
 * that was seen, become exit records, marked as uncertain and backfilled.
 * Returns true when some cannot be judged yet, and another sweep is due.
 */
bool join_sweep(struct joiner *j, bool (*is_alive)(int32_t tgid), const struct frame *now);

/*
 * Puts out what accounting has told of and that only waits for more, so that the position behind it can be saved. What it told
 * of before read_ns and the leading source did not, that one lost, or never had: its queues have been read since.
 */
void join_settle(struct joiner *j, int64_t read_ns);

/* Closes all that has ended, without waiting. */
void join_flush(struct joiner *j);

/* How many exits went out of which audit had not told, and has not since, though they ended by themselves. */
uint64_t join_untold(const struct joiner *j);

/* Fills `pending` and `unfinished`. */
void join_count(const struct joiner *j, struct exeunt_balance *balance);

/* Bytes of strings that are kept for amendments; about 8 MiB at the most. */
size_t join_kept_bytes(const struct joiner *j);

#endif
