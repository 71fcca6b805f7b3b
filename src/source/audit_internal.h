/* SPDX-License-Identifier: MIT */
/* The inside of the audit source, shared by its files and by nobody else. */
#ifndef SOURCE_AUDIT_INTERNAL_H
#define SOURCE_AUDIT_INTERNAL_H

#include "base/util.h"
#include "source/audit_keeper.h"
#include "source/audit_report.h"
#include "source/netlink.h"
#include "source/source.h"

#define AUDIT_MESSAGES_MOST 8

struct audit_source {
	struct source base;
	enum audit_mode mode; /* MULTICAST, UNICAST or STDIN */
	int epoll_fd;
	struct netlink_channel channel;
	struct netlink_batch batch;

	/* audit_own.c: as the owner */
	int spare_fd; /* a multicast socket that lets nothing in, for when we step aside; -1: none */
	bool challenged; /* somebody else wants to own audit */

	/* audit_text.c */
	char *text;
	bool ended;
	int64_t empty_ns;

	/* audit_watch.c */
	struct audit_keeper *keeper; /* NULL: cannot be asked */
	struct audit_report report;  /* as last told */
	bool known;		     /* report has been filled */
	bool asked;		     /* an answer is outstanding */
	bool stuck;		     /* for so long that it was told */
	bool config_changed;	     /* a record said so since the last question */
	uint64_t seen;		     /* records since the last question */
	int64_t asked_ns, told_ns;
	bool full; /* a rule told of all ends, once */

	/* audit_kept.c: rules that are loaded while we run */
	const struct audit_ruleset *rules; /* borrowed, until open() is done */
	size_t n_rules;
	bool wiped;    /* some are missing, and will be loaded again at reload_ns */
	bool kept_off; /* they cannot be loaded, and that was told */
	int64_t reload_ns;
	int64_t reload_wait_ns,
		reloaded_ns; /* how long it was waited the last time; when that was */
	char messages[AUDIT_MESSAGES_MOST][256]; /* a ring */
	int levels[AUDIT_MESSAGES_MOST];
	unsigned int first_message, n_messages;
};

/* audit_watch.c: what the kernel says of audit, now and then, and what changed */
void watch_begin(struct audit_source *s);
/* Takes an answer; `fn` NULL: it begins a new count. */
int watch_take(struct audit_source *s, struct audit_facts *now, frame_fn fn, void *userdata);
/* Takes an answer if there is one; hands on the kernel's own losses. */
int watch_answer(struct audit_source *s, frame_fn fn, void *userdata);
/* Asks, and waits for the answer. Errors: -ETIME, -EPIPE, facts->error. */
int watch_ask(struct audit_source *s, enum audit_ask what, struct audit_facts *facts);
/* Asks if there is a reason to. */
void watch_check(struct audit_source *s, int64_t now_ns);
int watch_finish(struct audit_source *s, frame_fn fn, void *userdata);
void watch_say(struct audit_source *s, int level, const char *format, ...) PRINTF(3, 4);
const char *watch_message(struct audit_source *s, int *level);

/* audit_kept.c: loads them. Errors: as for kept_error, the reason in the status. */
int kept_begin(struct audit_source *s, struct exeunt_source_status *st);
/* Rules were asked for, and these are the facts: are ours there? */
void kept_judge(struct audit_source *s, const struct audit_facts *now);
/* True if it is time to load them again. */
bool kept_is_due(const struct audit_source *s, int64_t now_ns);

/* audit_own.c: the unicast side. Returns 1 if we own it, 0 if somebody else does (said), or a negative errno. */
int own_begin(struct audit_source *s, uint32_t receive_buffer);
/* Leaves the unicast side to another and goes on with multicast. */
int own_step_aside(struct audit_source *s, frame_fn fn, void *userdata);
void own_end(struct audit_source *s);

/* audit_text.c: lines on standard input */
int text_begin(struct audit_source *s);
int text_drain(struct audit_source *s, frame_fn fn, void *userdata, bool *more);

/* audit.c */
int audit_open_multicast(struct audit_source *s, uint32_t receive_buffer);
int audit_watch_fd(struct audit_source *s, int fd);

#endif
