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

/* Adds what one thread cost to the sums; the first call on a zeroed record starts them. */
void merge_cost(struct exeunt_record *r, const struct task_exit *t);

/*
 * Takes over who the process was. A leader tells the name and whether it exec'ed; the last task tells ids, parent and
 * executable as they were at the end. What a later call with better knowledge sets again is replaced.
 */
void merge_identity(struct exeunt_record *r, const struct task_exit *t);

/* Sets when it ended and began, from the record of the last task and the time it was read. */
void merge_times(struct exeunt_record *r, const struct task_exit *t, const struct frame *f);

#endif
