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

/* A thread record that matters; the time is ac_tgetime, which one clock measures for all threads of a process. */
struct verdict_record {
	bool seen;
	uint32_t code;
	uint64_t at_us;
	uint64_t exe; /* inode of the executable at that time */
};

struct verdict {
	struct verdict_record last;   /* the one with TASK_GROUP */
	struct verdict_record killed; /* TASK_XSIG and a code: that code is the group's */
	struct verdict_record
		zapped; /* latest with TASK_XSIG and 0: exit(0) or exec by another thread */
	struct verdict_record own_code; /* latest that ended by itself with a code */
	struct verdict_record own_zero; /* latest that ended by itself with 0 */
	struct verdict_record
		audit; /* audit saw the call of exit_group(2); its time is not known here */
	bool last_is_leader;
	bool last_killed;
	unsigned int leaders; /* records with pid == tgid: two mean that a worker exec'ed */
};

/* Takes note of one record. Records may come in any order. */
void verdict_add(struct verdict *v, const struct task_exit *task);

/* Audit saw exit_group(2) with this code. */
void verdict_add_audit(struct verdict *v, uint8_t code);

/* Judges. Returns true when the evidence decides, false when *status is only the likelier of two. */
bool verdict_decide(const struct verdict *v, uint32_t *status);

#endif
