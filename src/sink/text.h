/* SPDX-License-Identifier: MIT */
/*
 * Records as aligned lines for people, one a process:
 *
 *	TIME PID PPID USER STATUS ELAPSED CPU RSS READ WRITTEN COMMAND
 *
 * STATUS is the exit code, or the signal with "+core" if one was written; "?" behind it where the evidence disagrees.
 * Lines that are no exit of a process say so there: "thread 0", "amend 0", "running". A thread has its own number
 * under PID, and PROCESS/NAME as command. The command is the executable with the arguments behind the first, or the
 * arguments, or the short name; where arguments begin and end only JSON tells. "-" is not known.
 *
 * Nothing that a process named can act on the terminal or look like another line: see utf8_visible(). The caller has
 * set LC_CTYPE. With a width no line is longer than it (40 columns are the least): the less important columns are left
 * out, and the command is cut, with '+' as its last character.
 */
#ifndef SINK_TEXT_H
#define SINK_TEXT_H

#include <sys/types.h>

#include <exeunt/record.h>

#include "base/util.h"

struct text;
struct output;

struct text_options {
	int width;  /* columns of the terminal; 0: no terminal, nothing is cut */
	bool color; /* failures and kills stand out */
	bool utc;   /* times in UTC instead of local time */
	bool history; /* of days: TIME has the date, and LOGIN and CGROUP are there (the unit, if it is known) */
};

/* Errors: -ENOMEM. `options` is copied; NULL means all zero. */
int text_new(struct text **ret, const struct text_options *options);
void text_free(struct text *t);

/* Queues the line of titles. Returns 0, or 1 when there was no room. */
int text_header(struct text *t, struct output *o);

/*
 * Queues the line for an exit, thread, amend, interim or loss record; other types have none here. Returns 0; 1 when
 * there was no room and it was dropped; -ENOMEM.
 */
int text_write(struct text *t, const struct exeunt_record *r, struct output *o);

/*
 * The same as a string, with its newline, borrowed until the next call; *ret is "" for a type that has no line.
 * r NULL stands for the titles. Returns the length, or -ENOMEM.
 */
ssize_t text_format(struct text *t, const struct exeunt_record *r, const char **ret);

/*
 * A start, status or stop record in one sentence for a message, without newline; cut if `size` is too small.
 * Returns the length; 0 for other types.
 */
size_t text_summary(const struct exeunt_record *r, char *buf, size_t size);

#endif
