/* SPDX-License-Identifier: MIT */
/*
 * Records as JSON Lines, schema exeunt/1: one object a line, keys in fixed order, strict JSON in valid UTF-8.
 *
 * Every line:	schema, type, time, seq, host.name, host.boot_id (the last two if known)
 * then the fields of the field table that are present, and then
 * loss:	loss.source, .count, .exact, .cause, .cpu (if of one CPU), .window.start, .window.end (if known), .backfilled
 * start, status, stop:
 *		exeunt.version, exeunt.started, exeunt.sources: array of
 *		    { name, state, detail, errno, reason, remedy, version, messages, bytes, lost, receive_buffer_bytes, sockets }
 *		    state is off, open, refused or failed; from detail to version, and receive_buffer_bytes, if known.
 *		    (Not at the top, where `sources` is the array of names of an exit: one path has one type.)
 *		kernel.release, delay_accounting
 *		balance.exits, .threads_seen, .amends, .backfilled, .lost, .lost_output, .filtered, .unparsable, .evicted,
 *		    .unmatched, .pending, .unfinished, .records
 *
 * Control characters (C0, DEL, C1) are escaped. Bytes that are no UTF-8 become U+FFFD, and a sibling key with the
 * suffix _hex has the raw bytes; for an array of strings, of all its elements. A number above 2^53 - 1 is written as
 * 2^53 - 1, with a sibling _hex that has the exact value in hexadecimal.
 *
 * How it is fast: for one set of present fields the text between the values never changes. It is put together once
 * ("plan"), and a line then is literal, value, literal, value ... with copies of fixed size.
 */
#ifndef SINK_JSON_H
#define SINK_JSON_H

#include <sys/types.h>

#include "base/util.h"
#include "record/fields.h"

struct json;
struct output;

/*
 * host_name and boot_id (as /proc/sys/kernel/random/boot_id has it) go into every line; NULL or "" leaves them out.
 * Both are copied. Errors: -ENOMEM, -EINVAL (longer than 255 bytes).
 */
int json_new(struct json **ret, const char *host_name, const char *boot_id);
void json_free(struct json *j);

/* Queues the line. Returns 0; 1 when there was no room and it was dropped; -ENOMEM. */
int json_write(struct json *j, const struct exeunt_record *r, struct output *o);

/*
 * Writes the line, with its newline and without NUL, to `buf`. Returns its length; -ENOSPC when it does not fit; -ENOMEM.
 */
ssize_t json_format(struct json *j, const struct exeunt_record *r, char *buf, size_t size);

#endif
