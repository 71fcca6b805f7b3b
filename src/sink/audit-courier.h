/* SPDX-License-Identifier: MIT */
/*
 * The courier: a small process of ours that hands lines to the kernel, which makes of each an audit record of type TRUSTED_APP
 * for whoever owns audit. A process of its own, for three reasons:
 *
 * - Who sends while audit's queue is full sleeps in the kernel for up to backlog_wait_time, a minute by default, and not to be
 *   interrupted (kernel/audit.c: audit_receive()). A thread of ours that slept so would hold back the end of all of us.
 * - Sending needs CAP_AUDIT_WRITE, and asking how audit is CAP_AUDIT_CONTROL. The process that reads what strangers name their
 *   programs shall have neither; the courier has these two and reads nothing but lines that we have written.
 * - It lives on for a moment when the main process is killed, and hands over what it has.
 *
 * The kernel says success while audit is off, and while nobody is there to read; so the courier asks how audit is before it
 * sends the first line in a while, after five seconds of sending, and after a quarter of audit's queue. While audit is off,
 * has no owner, or has a queue that is half full, it takes no lines: they stay in the queue of the sender, and no program on
 * the host is made to wait because of us. The end of the owner is seen at once.
 */
#ifndef SINK_AUDIT_COURIER_H
#define SINK_AUDIT_COURIER_H

#include <sys/types.h>

#include "base/util.h"

enum courier_state {
	COURIER_UNKNOWN, /* it has not asked yet */
	COURIER_WORKS,
	COURIER_OFF,	  /* audit is switched off */
	COURIER_NO_OWNER, /* no auditd */
	COURIER_OURS,	  /* the main process owns audit itself: nobody else would read it */
	COURIER_BACKLOG,  /* the owner does not keep up */
	COURIER_REFUSED,  /* see `error` */
};

/* Counts since its start. */
struct courier_report {
	uint32_t state;
	int32_t error;	  /* negative errno */
	uint64_t taken;	  /* lines that it is done with */
	uint64_t refused; /* of these, what the kernel did not take */
	uint64_t suspect; /* of these, what may have been lost behind the kernel's back */
	int64_t from_ns,
		to_ns; /* what was last added to `suspect` was sent between these two, CLOCK_REALTIME */
};

struct courier {
	pid_t pid;
	int fd; /* lines go out, reports come in */
};

/* The life of the forked process; audit-courier-run.c. `fd` is its end of the socket. */
_Noreturn void courier_run(int fd);

/* Errors: of fork(2) and socketpair(2). */
int courier_start(struct courier *c);

/* Takes the newest report. Returns 1; 0 if there is none; -EPIPE when the courier is gone. */
int courier_take(struct courier *c, struct courier_report *ret);

/* No more lines: it ends when it is done with those that it has, or at once if it cannot send. */
void courier_end(struct courier *c);

/* Ends it, and waits for that a moment; one that the kernel holds is left behind and ends later. */
void courier_stop(struct courier *c);

/* What a state means to a person, or NULL: all is well. */
const char *courier_trouble(const struct courier_report *r, char *buf, size_t size);

#endif
