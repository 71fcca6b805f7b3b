/* SPDX-License-Identifier: MIT */
/*
 * The keeper: a small process of ours, forked at open, that talks to audit's control side. A process of its own, for
 * three reasons, each of them seen:
 *
 * - Asking (AUDIT_GET) sleeps in the kernel while audit's queue is full, for all of backlog_wait_time: 3.0 s at 750
 *   ticks, a minute by default, and not to be interrupted. Meanwhile every other socket would overflow.
 * - Asking needs CAP_AUDIT_CONTROL, which can switch audit off. The process that reads what strangers name their
 *   programs shall not have it: the keeper has this capability and nothing else, and reads nothing but its own socket.
 * - What was changed is put back even if the main process is killed: the keeper sees the end of its socket.
 */
#ifndef SOURCE_AUDIT_KEEPER_H
#define SOURCE_AUDIT_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/audit_report.h"

struct audit_keeper;

enum audit_ask {
	AUDIT_ASK_STATUS =
		1, /* each answer costs the kernel a thread, which ends, and is seen to end */
	AUDIT_ASK_RULES = 2, /* the same with the rules */
	/*
	 * Makes audit fit to be owned by the caller: switched on, a queue of at least 8,192, and nobody made to wait. Then
	 * answers as AUDIT_ASK_STATUS. What was changed is put back by AUDIT_ASK_RELEASE or at the end, and so is the
	 * ownership of the caller, whose socket has to be closed by then.
	 */
	AUDIT_ASK_OWN = 3,
	AUDIT_ASK_RELEASE = 4,
	/*
	 * Loads what is missing of the sets of rules, whole or not at all, and answers as AUDIT_ASK_RULES. What was loaded so
	 * is unloaded at the end of the keeper; what was there already is not.
	 */
	AUDIT_ASK_LOAD = 5,
};

struct audit_ruleset;

/*
 * `sets` are rules that AUDIT_ASK_LOAD is for; they need not outlive the call. Errors: -ENOMEM, of fork(2) and
 * socketpair(2).
 */
int audit_keeper_start(struct audit_keeper **ret, const struct audit_ruleset *sets, size_t n);

/* Puts back what was changed, and waits for that, two seconds at most. NULL is accepted. */
void audit_keeper_stop(struct audit_keeper *k);

/* Readable when there is an answer. */
int audit_keeper_fd(const struct audit_keeper *k);

/* Sends a question, without waiting. Errors: -EAGAIN (too many questions), -EPIPE (the keeper is gone). */
int audit_keeper_ask(struct audit_keeper *k, enum audit_ask what);

/* Takes an answer. Returns 1; 0 if there is none yet; -EPIPE. */
int audit_keeper_answer(struct audit_keeper *k, struct audit_facts *ret);

/* Waits for an answer. Errors: -ETIME, -EPIPE. */
int audit_keeper_wait(struct audit_keeper *k, struct audit_facts *ret, int timeout_ms);

#endif
