/* SPDX-License-Identifier: MIT */
/*
 * Between audit_assemble.c, which takes records in, and audit_tell.c, which closes events and tells
 * them.
 */
#ifndef DECODE_AUDIT_ASSEMBLE_INTERNAL_H
#define DECODE_AUDIT_ASSEMBLE_INTERNAL_H

#include "decode/audit_args.h"
#include "decode/audit_assemble.h"
#include "decode/audit_window.h"

/* So many events in a row must lack a title before titles are no longer waited for. */
#define TITLES_TRUSTED 16

/* Bits of audit_entry.seen. */
enum audit_seen {
	SEEN_SYSCALL = 1,
	SEEN_EOE = 2,
	SEEN_TITLE = 4,
	SEEN_EXECVE = 8,
	SEEN_CWD = 16,
};

struct audit_assemble {
	struct audit_assemble_options options;
	struct audit_counters counters;
	struct audit_window window;
	struct audit_args args;
	struct audit_event event;
	char *pool;
	size_t pool_size;
	int64_t clock_ns;
	uint32_t execs;	       /* open ones */
	unsigned int titles;   /* events without a title until none is expected */
	unsigned int cut_ends; /* EOE records in a row whose id was cut off */
};

bool audit_tell_is_exec(const struct audit_entry *e);

/* All that the kernel writes for such an event is there, or its end was told. */
bool audit_tell_is_over(const struct audit_assemble *a, const struct audit_entry *e);

/* Tells an open event if it can be told, and closes it. */
void audit_tell_finish(struct audit_assemble *a, struct audit_entry *e);

/* Does so with all that waited too long. */
void audit_tell_expired(struct audit_assemble *a);

#endif
