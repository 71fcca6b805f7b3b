/* SPDX-License-Identifier: MIT */
/*
 * What the state of audit means: whether exits can be told of, what is in the way and what mends it, and what changed.
 * Pure but for audit_report_read().
 */
#ifndef SOURCE_AUDIT_REPORT_H
#define SOURCE_AUDIT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The keys of our own rules begin so. */
#define AUDIT_KEY_PREFIX "exeunt-"

/* As read from the kernel. Plain data; crosses a socket between two processes of ours. */
struct audit_facts {
	int error;	  /* negative errno: nothing of this is known, but what the boot says */
	bool booted_off;  /* audit=0 on the kernel's command line: until reboot there is no audit */
	bool booted_on;	  /* audit=1: records that nobody takes are kept, up to backlog_limit */
	bool rules_known; /* the rules were asked for too */
	bool never_task; /* a rule that keeps processes that begin meanwhile out of audit for ever */
	bool exit_rule;	 /* a rule that logs exit_group(2), perhaps not of all */
	bool exit_all;	 /* one that has no other condition than the architecture */
	uint32_t rules, own_rules;	 /* loaded; and with a key of ours */
	uint32_t kept, kept_loaded;	 /* rules that shall be loaded while we run; and that are */
	int kept_error;			 /* negative errno: why the others are not */
	uint32_t enabled;		 /* 0 off, 1 on, 2 on and locked until reboot */
	uint32_t failure;		 /* 0 silent, 1 kernel log, 2 panic */
	uint32_t pid;			 /* who owns the unicast side, 0: nobody */
	char owner[16];			 /* its name */
	uint32_t rate_limit;		 /* records a second, 0: none */
	uint32_t lost;			 /* since boot, or since somebody reset it */
	uint32_t backlog, backlog_limit; /* queued, and how many can be */
	uint32_t backlog_wait_time;	 /* ticks that a process sleeps when the queue is full */
};

enum audit_finding_id {
	AUDIT_FINDING_ABSENT,
	AUDIT_FINDING_BOOTED_OFF,
	AUDIT_FINDING_UNREADABLE,
	AUDIT_FINDING_STUCK,
	AUDIT_FINDING_OFF,
	AUDIT_FINDING_NEVER_TASK,
	AUDIT_FINDING_PANIC,
	AUDIT_FINDING_RATE_LIMIT,
	AUDIT_FINDING_LOST,
	AUDIT_FINDING_NO_EXIT_RULE,
	AUDIT_FINDING_LOCKED,
	AUDIT_FINDING_NO_OWNER,
	AUDIT_FINDING_OWNER,
	AUDIT_FINDING_COUNT
};

struct audit_finding {
	enum audit_finding_id id;
	bool in_the_way; /* exits are not told of, or not all, until it is mended */
	char reason[160];
	const char *remedy; /* or NULL */
};

/* The findings, the gravest first. */
struct audit_report {
	struct audit_facts facts;
	struct audit_finding findings[AUDIT_FINDING_COUNT];
	size_t n;
};

/* Fills the findings from r->facts. `own_pid`: we own the unicast side ourselves if facts.pid is that; 0: we do not. */
void audit_report_judge(struct audit_report *r, uint32_t own_pid);

/* NULL if nothing is in the way. */
const struct audit_finding *audit_report_worst(const struct audit_report *r);

/*
 * The next sentence about what changed between two looks. *step starts at 0; NULL when there is no more. `buf` is of
 * `size` bytes and may be what is returned.
 */
const char *audit_report_change(const struct audit_facts *before, const struct audit_facts *now,
				unsigned int *step, int *level, char *buf, size_t size);

/*
 * How many records the kernel gave up between two looks and we cannot have had. Whoever resets the counter makes it
 * start again at 0. Nothing if they were lost to an owner that is not there: with audit=1 on the command line the
 * kernel keeps them for it, counts them as lost when it cannot keep more, and multicast has had them all.
 */
uint64_t audit_report_lost(const struct audit_facts *before, const struct audit_facts *now);

/* Adds what one loaded rule means (linux/audit.h). */
struct audit_rule_data;
void audit_report_add_rule(struct audit_facts *facts, const struct audit_rule_data *rule);

/* What the kernel's command line says of audit. */
void audit_report_boot(struct audit_facts *facts, const char *cmdline);

/* Asks the kernel. Takes up to two seconds; never sleeps in a full audit queue. Errors: -ENOMEM, of fork(2). */
int audit_report_read(struct audit_report *ret);

#endif
