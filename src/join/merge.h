/* SPDX-License-Identifier: MIT */
/* Task records into a record: one task whole, or the threads of a process summed. Pure; times are passed in. */
#ifndef JOIN_MERGE_H
#define JOIN_MERGE_H

#include <stdbool.h>

#include <exeunt/record.h>

#include "decode/frame.h"
#include "decode/taskstats.h"

/* Microseconds from the kernel as nanoseconds; what no clock can have counted is cut to 73 years. */
static inline int64_t merge_elapsed_ns(uint64_t us)
{
	const uint64_t most = (uint64_t)INT64_MAX / 4000;

	return (int64_t)(us < most ? us : most) * 1000;
}

/* CPU time as the kernel samples it, by ticks; summed over threads. */
struct merge_ticks {
	uint64_t user_us, system_us;
};

/*
 * Adds what one thread cost to the sums; the first call on a zeroed record and zeroed ticks starts them.
 * User and system time come in ticks, which miss most of a short process; their sum is made that of the scheduler's exact
 * run time, split as the ticks are, as getrusage(2) does it (kernel/sched/cputime.c: cputime_adjust()).
 */
void merge_cost(struct exeunt_record *r, struct merge_ticks *ticks, const struct task_exit *t);

/*
 * Takes over who the process was. names: this task is the leader, which has the process's name and tells whether it
 * exec'ed; others lend theirs until it comes. The last task tells ids, parent and executable as they were at the end.
 */
void merge_identity(struct exeunt_record *r, const struct task_exit *t, bool names);

/* Sets when it ended and began, from the record of the last task and the time it was read. */
void merge_times(struct exeunt_record *r, const struct task_exit *t, const struct frame *f);

#endif
