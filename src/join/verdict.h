/* SPDX-License-Identifier: MIT */
/*
 * What wait(2) would have told about a process, judged from the records of its threads. No single record can be
 * trusted: the leader's may be from long before, and the last thread may have been in its own exit while another one
 * set the status of the whole process (kernel/exit.c: do_group_exit(), synchronize_group_exit()).
 */
#ifndef JOIN_VERDICT_H
#define JOIN_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/taskstats.h"

struct verdict {
	bool killed_seen; /* a record with TASK_XSIG and a code: that code is the group's */
	uint32_t killed_code;
	bool zero_seen; /* TASK_XSIG and 0: exit(0) by another thread, or exec by another thread */
	int64_t zero_ns;
	uint64_t zero_exe; /* inode of the executable at that time */
	bool other_seen; /* a thread that ended by itself, last one with another code than 0 if there is one */
	uint32_t other_code;
	int64_t other_ns;
	bool last_seen; /* the record with TASK_GROUP */
	bool last_is_leader;
	bool last_killed;
	uint32_t last_code;
	uint64_t last_exe;
	int64_t last_ns;
	unsigned int leaders; /* records with pid == tgid: two mean that a worker exec'ed */
};

/* Takes note of one record; mono_ns is when it was read. Records may come in any order. */
void verdict_add(struct verdict *v, const struct task_exit *task, int64_t mono_ns);

/* Judges. Returns true when the evidence decides, false when *status is only the likelier of two. */
bool verdict_decide(const struct verdict *v, uint32_t *status);

#endif
