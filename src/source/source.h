/* SPDX-License-Identifier: MIT */
/*
 * What every source of kernel events offers to the engine: open with privilege, wait, drain, check for loss.
 * A source reads bytes and hands them on as frames; it decodes nothing.
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <exeunt/record.h>

#include "decode/frame.h"

/* Where audit records are read. */
enum audit_mode {
	AUDIT_MODE_AUTO,      /* multicast */
	AUDIT_MODE_OFF,	      /* nowhere */
	AUDIT_MODE_MULTICAST, /* beside auditd, or whoever else owns audit */
	AUDIT_MODE_UNICAST,   /* as the owner, in the place of auditd */
	AUDIT_MODE_STDIN,     /* text on standard input, as auditd's plugins get it */
};

struct audit_ruleset;

struct source_options {
	uint32_t receive_buffer; /* bytes for each socket; 0: chosen by memory and CPUs */
	enum audit_mode audit_mode;
	const struct audit_ruleset *audit_rules; /* to be loaded while it runs */
	size_t n_audit_rules;
	const char *pacct_mode;	 /* NULL or "auto", "off", "own", or a path */
	const char *pacct_state; /* file that remembers how far was read; NULL: none */
	bool pacct_force;	 /* own: take accounting from whoever has it */
	const char *pacct_dir;	 /* own: where its files are; NULL: /run/exeunt */
	uint64_t pacct_bound;	 /* own: bytes after which the file is switched; 0: chosen */
	bool no_children; /* pacct: no child is made to end to see whether its record arrives */
	char *text; /* room for a refusal that names a file, as long as the status; NULL: none */
	size_t text_size;
};

struct source {
	const struct source_ops *ops;
	struct exeunt_source_status
		*status;	    /* borrowed; counters and state are kept up to date there */
	uint64_t keep_capabilities; /* mask of 1 << CAP_...: needed after open() */
};

struct source_ops {
	enum exeunt_source id;
	/*
	 * Opens what needs privilege. On failure *ret stays NULL and status has state, error, reason and remedy.
	 * Errors: -EPERM (not permitted here), -EOPNOTSUPP (the kernel cannot), -ENOMEM, others.
	 */
	int (*open)(struct source **ret, const struct source_options *o,
		    struct exeunt_source_status *status);
	void (*free)(struct source *s);
	/* An epoll descriptor that is readable when there is something to drain. */
	int (*fd)(const struct source *s);
	/*
	 * Reads what is queued, without blocking. woken: poll told us so just now, which tells when it came.
	 * Returns the number of data frames handed on, or a negative errno. *more: there may be more at once.
	 */
	int (*drain)(struct source *s, bool woken, frame_fn fn, void *userdata, bool *more);
	/* Hands on a FRAME_LOST for each channel that lost something since the last call. */
	int (*check)(struct source *s, frame_fn fn, void *userdata);
	/*
	 * NULL, or: called once when nothing more is read, before free(). As check(), with what is too costly to ask for
	 * each time. May wait for up to half a second.
	 */
	int (*finish)(struct source *s, frame_fn fn, void *userdata);
	/*
	 * NULL, or: takes the next sentence for a person; NULL when there is none. Borrowed until the next call.
	 * *level: 4 warning, 6 information. To be asked after open() and after check().
	 */
	const char *(*message)(struct source *s, int *level);
};

extern const struct source_ops source_taskstats;
extern const struct source_ops source_procevents;
extern const struct source_ops source_audit;
extern const struct source_ops source_pacct; /* and source/pacct.h */

#endif
