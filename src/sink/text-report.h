/* SPDX-License-Identifier: MIT */
/*
 * A report as a table for people, in the manner of sa(8):
 *
 *	EXITS FAILED KILLED CORE UTIME STIME ELAPSED [RSS] [FROM] what it is grouped by ...
 *
 * UTIME, STIME and ELAPSED are sums, RSS is the largest; it is left out where nobody told of it. "-" is not known; ">" in front
 * of a sum: only a part of these exits told, and the truth is more. FROM is the start of the interval. Columns are as wide as what is in
 * them. What a process named is shown as utf8_visible() does. Below the rows stands the total.
 */
#ifndef SINK_TEXT_REPORT_H
#define SINK_TEXT_REPORT_H

#include <sys/types.h>

#include "base/util.h"
#include "record/tally.h"

struct text_report;
struct output;

struct text_report_options {
	int width;	       /* columns of the terminal; 0: no terminal, nothing is cut */
	bool utc;	       /* times in UTC instead of local time */
	const uint8_t *fields; /* the columns behind the sums, out of those that it is grouped by */
	unsigned int n_fields;
};

/*
 * Everything but `fields` is borrowed until it is freed. A user or group without a name shows its number, if that is among what is
 * grouped by. Errors: -ENOMEM.
 */
int text_report_new(struct text_report **ret, const struct text_report_options *o, struct tally *t,
		    const struct tally_rows *rows);
void text_report_free(struct text_report *r);

/* Titles, rows and the total are lines 0, 1 ... */
size_t text_report_lines(const struct text_report *r);

/* One of them with its newline, borrowed until the next call. Returns its length, or -ENOMEM. */
ssize_t text_report_format(struct text_report *r, size_t line, const char **ret);

/* Queues one. Returns 0; 1 when there was no room and it was dropped; -ENOMEM. */
int text_report_write(struct text_report *r, size_t line, struct output *o);

#endif
