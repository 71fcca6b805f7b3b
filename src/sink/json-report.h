/* SPDX-License-Identifier: MIT */
/*
 * Rows of a report as JSON Lines, one object for each group, or group and interval; what absent, and _hex, means is as in json.h.
 *
 *	schema, type ("report"), interval.start, .end (with intervals, if the exits told when),
 *	the fields that it is grouped by, under their own paths,
 *	others, groups (in place of those fields: this is the sum of so many groups; groups is left out where that is not known),
 *	exits, failed, killed, core_dumped, uncertain (failed to uncertain are left out if no exit told its status),
 *	usage.elapsed_us.sum, .mean, .max, usage.cpu.user_us, .system_us (sums), usage.memory.rss_peak_bytes.max,
 *	usage.io.read_bytes, .write_bytes (sums),
 *	first_exit, last_exit,
 *	incomplete: paths of which only a part of these exits told; a sum is then of those that did
 */
#ifndef SINK_JSON_REPORT_H
#define SINK_JSON_REPORT_H

#include "record/tally.h"
#include "sink/json.h"

/* The line with its newline, borrowed until the next call. Returns its length, or -ENOMEM. */
ssize_t json_report_format(struct json *j, struct tally *t, const struct tally_row *row,
			   const char **ret);

/* Queues the line. Returns 0; 1 when there was no room and it was dropped; -ENOMEM. */
int json_report_row(struct json *j, struct tally *t, const struct tally_row *row, struct output *o);

#endif
